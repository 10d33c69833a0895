/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/safe_text.h"

#include "tests/test.h"

static const char *safe(const char *text)
{
	static char shown[200];
	FILE *file = fmemopen(shown, sizeof(shown), "w");
	REQUIRE(file);
	shown[0] = 0; /* a file of memory that was not written to stays as it was */
	ga_put_safe(file, text);
	fclose(file);
	return shown;
}

TEST(ordinary_text_stays)
{
	EXPECT_STR(safe("model.py:12 forward"), "model.py:12 forward");
	EXPECT_STR(safe("größe 你好 \xf0\x9f\x94\xa5"), "größe 你好 \xf0\x9f\x94\xa5");
	EXPECT_STR(safe(""), "");
}

TEST(control_characters_do_not_reach_the_terminal)
{
	EXPECT_STR(safe("a\033[31mb\r\n\tc\x7f"), "a?[31mb???c?");
	EXPECT_STR(safe("a\xc2\x9b"
			"5mb"),
	    "a?5mb"); /* CSI as one character */
}

TEST(text_does_not_turn_around)
{
	EXPECT_STR(safe("a\xe2\x80\xae"
			"b\xe2\x81\xa6"
			"c\xe2\x80\xa8"
			"d\xd8\x9c"),
	    "a?b?c?d?");
}

TEST(bytes_that_are_no_utf8_are_marked)
{
	EXPECT_STR(safe("\xff\x80"
			"a\xc3"),
	    "??a?");
	EXPECT_STR(safe("\xc0\x9b"), "??");	      /* ESC, longer than needed */
	EXPECT_STR(safe("\xed\xa0\x80"), "???");      /* a surrogate */
	EXPECT_STR(safe("\xf4\x90\x80\x80"), "????"); /* beyond Unicode */
	EXPECT_STR(safe("\xf8\x88\x80\x80\x80"), "?????");
}
