/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/frame_text.h"
#include "analyzer/render.h"

static void expect_name(const char *function, const char *expected)
{
	struct ga_frame frame = {.function = function};
	char *text = ga_frame_text(&frame);
	EXPECT_STR(text, expected);
	free(text);
}

TEST(native_names_are_short)
{
	expect_name("malloc", "malloc");
	expect_name("at::empty(c10::ArrayRef<long>, int)", "at::empty");
	expect_name("at::(anonymous namespace)::f(int)", "at::(anonymous namespace)::f");
	expect_name("a<b<c (d, e<f>)>, g>::call(int) const", "a<...>::call");
	expect_name("void f<g (*)(int)>(int)", "void f<...>");
	expect_name("f<&(s::operator->())>::g()", "f<...>::g");
	expect_name("s::operator()(int) const", "s::operator()");
	expect_name("s::operator<<(int)", "s::operator<<");
	expect_name("s::operator-><int>()", "s::operator-><...>");
	expect_name("<", "<...>");
	expect_name("(", "");
	expect_name("f ", "f");
	expect_name("<><><><>", "<...><...><...><...>");
}

TEST(python_names_are_whole)
{
	struct ga_frame frame = {
	    .python = true, .function = "f.<locals>.<lambda>", .file = "/a/b.py", .line = 7};
	char *text = ga_frame_text(&frame);
	EXPECT_STR(text, "f.<locals>.<lambda> (b.py:7)");
	free(text);
	text = ga_frame_line(&frame, 10, "...");
	EXPECT_STR(text, "f.<locals>.<lambda> (/a/b.py:7)");
	free(text);
}

static void expect_file(const char *file, const char *expected)
{
	struct ga_frame frame = {.python = true, .function = "f", .file = file, .line = 7};
	char *text = ga_frame_text(&frame);
	EXPECT_STR(text, expected);
	free(text);
}

TEST(files_that_every_package_has_come_with_their_folder)
{
	expect_file("/a/models/__init__.py", "f (models/__init__.py:7)");
	expect_file("models/__main__.py", "f (models/__main__.py:7)");
	expect_file("/__init__.py", "f (__init__.py:7)");
	expect_file("__init__.py", "f (__init__.py:7)");
	expect_file("/a/b/my__init__.py", "f (my__init__.py:7)");
}

TEST(long_native_names_are_cut)
{
	struct ga_frame frame = {.function = "aaaaaaaaaabbbbbbbbbbccccc", .module = "/x/lib.so"};
	char *text = ga_frame_line(&frame, 34, "\u2026"); /* what it takes */
	EXPECT_STR(text, "aaaaaaaaaabbbbbbbbbbccccc (lib.so)");
	free(text);
	text = ga_frame_line(&frame, 33, "\u2026");
	EXPECT_STR(text, "aaaaaaaaaabbbbbbbbbbccc\u2026 (lib.so)");
	EXPECT_EQ(ga_text_columns(text), 33);
	free(text);
	text = ga_frame_line(&frame, 30, "...");
	EXPECT_STR(text, "aaaaaaaaaabbbbbbbb... (lib.so)");
	free(text);
	text = ga_frame_line(&frame, 5, "...");
	EXPECT_STR(text, "aaaaaaaa... (lib.so)");
	free(text);
	frame.function = "ab";
	text = ga_frame_line(&frame, 5, "...");
	EXPECT_STR(text, "ab (lib.so)");
	free(text);
}
