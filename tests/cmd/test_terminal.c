/* SPDX-License-Identifier: Apache-2.0 */
/* dlock on a terminal: who reads, who is interrupted, who stops. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

TestSuite(terminal, .init = world_begin, .fini = world_end, .timeout = 60);

/* The terminal's other end, and what has been read from it. */
struct screen {
	int fd;
	char text[65536];
	size_t used;
};

static void become(const char *slave, char *const argv[])
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	fd = open(slave, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0 || dup2(fd, 0) < 0 ||
	    dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(98);
	execv(argv[0], argv);
	_exit(99);
}

static void start_there(struct proc *p, struct screen *s, const char *const a[])
{
	char *argv[16] = { getenv("DLOCK_BIN") };
	char slave[64];

	for (size_t i = 1; a[i]; i++)
		argv[i] = (char *)a[i];
	memset(s, 0, sizeof(*s));
	s->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	cr_assert(s->fd >= 0 && grantpt(s->fd) == 0 && unlockpt(s->fd) == 0);
	cr_assert(ptsname_r(s->fd, slave, sizeof(slave)) == 0);
	p->number = -1;
	p->pid = fork();
	if (p->pid == 0)
		become(slave, argv);
	cr_assert(p->pid > 0);
}

static int shows(struct screen *s, const char *text)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };

	while (poll(&fd, 1, 0) > 0 && s->used < sizeof(s->text) - 1) {
		ssize_t n = read(s->fd, s->text + s->used,
				 sizeof(s->text) - 1 - s->used);

		if (n <= 0)
			break;
		s->used += (size_t)n;
	}
	return strstr(s->text, text) != NULL;
}

static void type(const struct screen *s, const char *keys)
{
	cr_assert(write(s->fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

#define RUN_SH "run", "n", "--", "/bin/sh", "-c"

Test(terminal, belongs_to_the_command)
{
	struct screen s;
	struct proc p;

	start_there(&p, &s,
		    ARGS(NULL, RUN_SH, "echo ready; read x; echo got=$x"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, interrupts_the_command)
{
	struct screen s;
	struct proc p;

	start_there(&p, &s, ARGS(NULL, RUN_SH, "echo ready; exec sleep 1000"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "\003");
	cr_expect_eq(finish(&p).code, 128 + SIGINT);
}

Test(terminal, interrupts_the_wait)
{
	struct proc p, holder;
	struct screen s;

	start_sigchild(&holder, file_path("holder"), "leave", "n", NULL);
	start_there(&p, &s, ARGS(NULL, "run", "-v", "n", "/bin/true"));
	EVENTUALLY(shows(&s, "waiting for"));
	type(&s, "\032\003"); /* Ctrl-Z does not stop a waiter */
	cr_expect_eq(finish(&p).code, 128 + SIGINT);
	kill(holder.pid, SIGTERM);
	finish(&holder);
}

Test(terminal, stops_the_command_and_continues_it)
{
	struct screen s;
	struct proc p;

	start_there(&p, &s,
		    ARGS(NULL, RUN_SH, "echo ready; read x; echo got=$x"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "\032");
	EVENTUALLY(shows(&s, "the command is stopped"));
	cr_expect_eq(DLOCK("run", "-n", "n", "/bin/true").code, 1);
	type(&s, "\032");
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, is_lent_to_a_command_in_a_pipeline_that_asks)
{
	char script[4400];
	struct screen s;
	struct proc p;

	/* The output is no terminal: dlock keeps it until it is needed. */
	snprintf(script, sizeof(script),
		 "exec >%s; echo ready >&2; read x; "
		 "echo got=$x >&2",
		 file_path("out"));
	start_there(&p, &s,
		    ARGS(NULL, "run", "m", "--", "/bin/sh", "-c",
			 "exec \"$0\" run n -- /bin/sh -c \"$1\" | cat",
			 getenv("DLOCK_BIN"), script));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, is_asked_before_a_lock_is_broken)
{
	struct proc p, holder;
	struct screen s;
	pid_t child;

	child = start_sigchild(&holder, file_path("holder"), "stay", "n", NULL);
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	cr_expect(shows(&s, "held by"));
	type(&s, "\n");
	cr_expect_eq(finish(&p).code, 1);
	cr_expect(alive(child));
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	type(&s, "y\n");
	cr_expect_eq(finish(&p).code, 0);
	cr_expect_eq(finish(&holder).code, 75);
	cr_expect(!alive(child));
}
