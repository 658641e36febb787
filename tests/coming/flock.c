/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for users of flock(1): shell lines, with `dlock` in the path. */
#include "coming/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The exit status of a line, in which `dlock` is the command. */
static int sh(const char *line)
{
	const char *head = "dlock() { command \"$DLOCK_BIN\" \"$@\"; }\n"
			   "busy() { while dlock run -n a -- true 2>&-; do "
			   "sleep 0.02; done; }\n";
	char *whole = malloc(strlen(head) + strlen(line) + 1);
	int status;

	cr_assert_not_null(whole);
	strcpy(whole, head);
	strcat(whole, line);
	status = system(whole);
	free(whole);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define SH(line, wanted)                                                       \
	do {                                                                   \
		(void)t;                                                       \
		cr_assert_eq(sh(line), (wanted), "%s", (line));                \
	} while (0)

ROW(flock_run)
{
	SH("dlock run a -- true", 0);
	SH("dlock run a -- sh -c 'exit 3'", 3);
}

ROW(flock_nonblock)
{
	SH("dlock run a -- \"$DLOCK_BIN\" run -n a -- true 2>&-", 1);
	SH("dlock run a -- \"$DLOCK_BIN\" run --nonblocking a -- true 2>&-", 1);
}

ROW(flock_wait)
{
	SH("dlock run a -- \"$DLOCK_BIN\" run -w 0.05 a -- true 2>&-", 1);
}

ROW(flock_conflict)
{
	SH("dlock run a -- \"$DLOCK_BIN\" run -n -E 7 a -- true 2>&-", 7);
}

ROW(flock_shared)
{
	SH("dlock run -s a -- \"$DLOCK_BIN\" run -n -s a -- true", 0);
	SH("dlock run -s a -- \"$DLOCK_BIN\" run -n a -- true 2>&-", 1);
}

ROW(flock_shell)
{
	SH("dlock run a -c 'exit 4'", 4);
}

ROW(flock_close)
{
	SH("dlock run -o a -- true", 0);
}

ROW(flock_descriptor)
{
	SH("dlock run -n 9 2>&1 | grep -q 'not descriptors'", 0);
	/* A pipe that is open for as long as the lock is to be held. */
	SH("mkfifo \"$TMPDIR/open\"\n"
	   "dlock hold a < \"$TMPDIR/open\" > \"$TMPDIR/token\" &\n"
	   "exec 8> \"$TMPDIR/open\"\n"
	   "busy\n"
	   "exec 8>&-\n"
	   "wait\n"
	   "rm \"$TMPDIR/open\"\n"
	   "dlock run -n a -- true",
	   0);
}

ROW(flock_unlock)
{
	SH("dlock run -u 9 2>&1 | grep -q 'it does not unlock'", 0);
}

ROW(flock_no_fork)
{
	SH("dlock run -F a -- true 2>&1 | grep -q 'Leave -F out'", 0);
}

const struct coming_row flock_rows[] = {
	{ "flock_run", flock_run },
	{ "flock_nonblock", flock_nonblock },
	{ "flock_wait", flock_wait },
	{ "flock_conflict", flock_conflict },
	{ "flock_shared", flock_shared },
	{ "flock_shell", flock_shell },
	{ "flock_close", flock_close },
	{ "flock_descriptor", flock_descriptor },
	{ "flock_unlock", flock_unlock },
	{ "flock_no_fork", flock_no_fork },
	{ NULL, NULL },
};
