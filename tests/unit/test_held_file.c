/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/held_file.h"
#include "tests/test.h"

static char path[64];

static struct gf_held_file hold(void)
{
	struct gf_held_file held;
	snprintf(path, sizeof(path), "/tmp/gpushim-held-%d", (int)getpid());
	unlink(path);
	gf_held_take(&held, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	REQUIRE(held.fd >= 0);
	return held;
}

TEST(number_is_high_and_closed_on_exec)
{
	int low = dup(1);
	close(low);
	struct gf_held_file held = hold();
	EXPECT(held.fd >= 48 && held.fd < 64); /* the kernel's first table */
	EXPECT_EQ(fcntl(held.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EXPECT_EQ(dup(1), low); /* the program's next number is what it was */
	close(low);
	int near = held.fd;
	gf_held_raise(&held);
	EXPECT(held.fd >= 1000);
	EXPECT(fcntl(near, F_GETFD) < 0);
	EXPECT(gf_held_ours(&held));
	EXPECT_EQ(fcntl(held.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EXPECT_EQ(dup(1), low); /* the program's next number is what it was */
	gf_held_close(&held);
	EXPECT_EQ(held.fd, -1);
	unlink(path);
}

TEST(few_descriptors_allowed)
{
	struct rlimit few = {6, 6};
	REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
	struct gf_held_file held = hold();
	EXPECT(gf_held_ours(&held));
	gf_held_raise(&held);
	EXPECT(gf_held_ours(&held));
	gf_held_close(&held);
	unlink(path);
}

TEST(closed_by_the_program)
{
	struct gf_held_file held = hold();
	int fd = held.fd;
	close(fd);
	EXPECT(!gf_held_ours(&held));
	EXPECT_EQ(gf_held_regain(&held, path, O_WRONLY), 0);
	EXPECT(gf_held_ours(&held));
	EXPECT(held.fd >= 1000);
	gf_held_close(&held);
	gf_held_raise(&held); /* none: nothing to move */
	EXPECT_EQ(held.fd, -1);
	unlink(path);
}

TEST(number_given_to_another_file)
{
	struct gf_held_file held = hold();
	int fd = held.fd, other = open("/dev/null", O_WRONLY);
	REQUIRE(dup2(other, fd) == fd);
	EXPECT(!gf_held_ours(&held));
	gf_held_close(&held);
	EXPECT(fcntl(fd, F_GETFD) >= 0); /* theirs: left open */
	unlink(path);
}

TEST(path_is_another_file)
{
	struct gf_held_file held = hold();
	int keep = dup(held.fd); /* so that the inode is not used again */
	close(held.fd);
	unlink(path);
	EXPECT(gf_held_regain(&held, path, O_WRONLY) != 0);
	close(open(path, O_RDWR | O_CREAT, 0600));
	EXPECT(gf_held_regain(&held, path, O_WRONLY) != 0);
	EXPECT_EQ(held.fd, -1);
	close(keep);
	unlink(path);
}
