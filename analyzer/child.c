/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/child.h"

#include <errno.h>
#include <sys/wait.h>

void ga_child_keep(struct sigaction *old_out)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, old_out);
}

bool ga_child_wait(pid_t child, int *status_out)
{
	pid_t ended;
	while ((ended = waitpid(child, status_out, 0)) < 0 && errno == EINTR)
		continue;
	return ended == child;
}
