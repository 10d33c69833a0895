/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/environment.h"
#include "shim/output.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "shim/properties.h"
#include "shim/settings.h"
#include "tests/test.h"

static const char *named(const char *pattern)
{
	static char name[GS_PATH_BYTES];
	struct gs_line line;
	gs_line_start(&line, name, sizeof(name));
	return gs_output_name(&line, pattern) ? name : NULL;
}

static const char *program(const char *arguments, size_t length)
{
	static char name[256];
	struct gs_line line;
	gs_line_start(&line, name, sizeof(name));
	gs_program_name_from(&line, arguments, length);
	return name;
}
#define PROGRAM(text) program(text, sizeof(text))

TEST(program_names)
{
	EXPECT_STR(PROGRAM("python\0train.py\0--x"), "train");
	EXPECT_STR(PROGRAM("/usr/bin/python3.11\0-u\0/home/me/train.py"), "train");
	EXPECT_STR(PROGRAM("python\0-m\0torch.distributed.run\0x.py"), "run");
	EXPECT_STR(PROGRAM("python\0-W\0ignore\0fit.py"), "fit");
	EXPECT_STR(PROGRAM("python\0-c\0print(1)"), "python");
	EXPECT_STR(PROGRAM("python"), "python");
	EXPECT_STR(PROGRAM("python\0-"), "python");
	EXPECT_STR(PROGRAM("python\0-W"), "python");
	EXPECT_STR(PROGRAM("/opt/bin/solver\0-v"), "solver");
	EXPECT_STR(program("", 0), "unknown");
}

TEST(path_patterns)
{
	char expected[GS_PATH_BYTES], folder[] = "/tmp/gpushim-test-XXXXXX";
	REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
	setenv("RANK", "7", 1);
	gs_environment_take();
	EXPECT_STR(named("/a/%r-100%%.gst"), "/a/7-100%.gst");
	EXPECT_STR(named("/a/x"), "/a/x.gst");
	EXPECT_STR(named("/a/%q.gst"), "/a/%q.gst");
	snprintf(expected, sizeof(expected), "%s/p%d.gst", folder, (int)getpid());
	EXPECT_STR(named("p%p"), expected);
	EXPECT_STR(named("./p%p.gst"), expected);
	snprintf(expected, sizeof(expected), "%s/gpushim-test_shim_output-%d.gst", folder,
	    (int)getpid());
	EXPECT_STR(named(folder), expected);
	EXPECT_STR(named("./"), expected);
	snprintf(expected, sizeof(expected), "/new/gpushim-test_shim_output-%d.gst", (int)getpid());
	EXPECT_STR(named("/new/"), expected);
	rmdir(folder);
	setenv("RANK", "../1/x", 1); /* stays in the folder that was asked for */
	gs_environment_take();
	EXPECT_STR(named("/a/r%r"), "/a/r.._1_x.gst");
}

TEST(devices_and_pipes_are_refused)
{
	char folder[] = "/tmp/gpushim-test-XXXXXX";
	REQUIRE(mkdtemp(folder) && chdir(folder) == 0);
	EXPECT(named("/dev/null") == NULL);
	REQUIRE(mkfifo("pipe", 0600) == 0 && mkfifo("x.gst", 0600) == 0);
	EXPECT(named("pipe") == NULL);
	EXPECT(named("x.gst") == NULL);
	EXPECT(named("x") == NULL);
	REQUIRE(symlink("pipe", "link") == 0);
	EXPECT(named("link") == NULL);
	EXPECT(named("other") != NULL);
	unlink("link");
	unlink("pipe");
	unlink("x.gst");
	rmdir(folder);
}

TEST(existing_files_are_kept)
{
	char folder[] = "/tmp/gpushim-test-XXXXXX", setting[128], path[128];
	REQUIRE(mkdtemp(folder));
	snprintf(setting, sizeof(setting), "GPUSHIM_OUTPUT=%s/deep/er/t.gst", folder);
	char *environment[] = {setting, NULL};
	gs_settings_read(environment);
	static struct gs_output first, second, third;
	struct gf_journal journal, other;
	REQUIRE(gs_output_open(&first, &journal));
	REQUIRE(gs_output_open(&second, &other));
	snprintf(path, sizeof(path), "%s/deep/er/t-2.gst", folder);
	EXPECT_STR(second.path, path);
	EXPECT(!second.journal_elsewhere);
	/* A journal whose trace is gone belongs to somebody else too. */
	gf_journal_close(&other, NULL);
	unlink(second.path);
	REQUIRE(gs_output_open(&third, &other));
	snprintf(path, sizeof(path), "%s/deep/er/t-3.gst", folder);
	EXPECT_STR(third.path, path);
	snprintf(path, sizeof(path), "rm -rf %s", folder);
	EXPECT_EQ(system(path), 0);
}

/* Somebody moved ours away, and another recording took the name. */
TEST(only_the_own_journal_is_removed)
{
	char folder[] = "/tmp/gpushim-test-XXXXXX", setting[128], moved[GS_PATH_BYTES + 8];
	REQUIRE(mkdtemp(folder));
	snprintf(setting, sizeof(setting), "GPUSHIM_OUTPUT=%s/t.gst", folder);
	char *environment[] = {setting, NULL};
	gs_settings_read(environment);
	static struct gs_output first, second;
	struct gf_journal journal, other;
	REQUIRE(gs_output_open(&first, &journal));
	snprintf(moved, sizeof(moved), "%s.moved", first.journal_path);
	REQUIRE(rename(first.journal_path, moved) == 0 && unlink(first.path) == 0);
	REQUIRE(gs_output_open(&second, &other));
	EXPECT_STR(second.journal_path, first.journal_path);
	gs_output_remove_journal(&first);
	EXPECT_EQ(access(second.journal_path, F_OK), 0);
	gs_output_remove_journal(&second);
	EXPECT(access(second.journal_path, F_OK) != 0);
	snprintf(moved, sizeof(moved), "rm -rf %s", folder);
	EXPECT_EQ(system(moved), 0);
}

TEST(append_is_all_or_nothing)
{
	static struct gs_output out;
	strcpy(out.path, "/dev/full");
	gf_held_take(&out.file, open(out.path, O_WRONLY));
	REQUIRE(out.file.fd >= 0);
	EXPECT(gs_output_append(&out, "x", 1) != 0);
	EXPECT_EQ(out.bytes, 0);
}

TEST(remote_file_systems)
{
	EXPECT(gs_output_is_remote(0x6969));
	EXPECT(gs_output_is_remote(0xff534d42));
	EXPECT(gs_output_is_remote((uint64_t)(int32_t)0xff534d42)); /* f_type is a signed long */
	EXPECT(!gs_output_is_remote(0xef53));   /* ext4 */
	EXPECT(!gs_output_is_remote(0x01021994)); /* tmpfs */
}
