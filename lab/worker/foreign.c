/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/worker/foreign.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 15000 /* an interpreter starts slowly */
#define SPARE_MS 5000  /* beyond a timeout */

struct lab_foreign {
	pid_t pid;
	int fd; /* the command's standard input and output */
	char about[80];
	char line[512];
	size_t len;
};

/* Read a line, without the end.  NULL: the command ended, or wrote no line in
 * time. */
static char *read_answer(struct lab_foreign *f, int64_t deadline, char *out,
			 size_t size)
{
	for (;;) {
		struct pollfd p = { .fd = f->fd, .events = POLLIN };
		char *end = memchr(f->line, '\n', f->len);
		ssize_t n;

		if (end) {
			size_t used = (size_t)(end - f->line) + 1;

			*end = '\0';
			snprintf(out, size, "%.*s", (int)size - 1, f->line);
			f->len -= used;
			memmove(f->line, end + 1, f->len);
			return out;
		}
		if (f->len == sizeof(f->line) ||
		    (poll(&p, 1, lab_poll_ms(deadline)) == 0 &&
		     lab_now() >= deadline))
			return NULL;
		if (!p.revents)
			continue;
		n = read(f->fd, f->line + f->len, sizeof(f->line) - f->len);
		if (n == 0 || (n < 0 && errno != EINTR))
			return NULL;
		f->len += n > 0 ? (size_t)n : 0;
	}
}

static const char *ask_command(struct lab_foreign *f, int64_t timeout_ms,
			       const char *request, char *reply, size_t size)
{
	int64_t deadline = timeout_ms < 0 ? LAB_FOREVER :
					    lab_after_ms(timeout_ms + SPARE_MS);

	if (send(f->fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return NULL;
	return read_answer(f, deadline, reply, size);
}

static int code_of(const char *reply)
{
	if (!reply) {
		lab_fail("the command gave no answer");
		return DLOCK_EUNREACHABLE;
	}
	if (!strncmp(reply, "ok", 2))
		return DLOCK_OK;
	if (!strncmp(reply, "busy", 4))
		return DLOCK_EBUSY;
	if (!strncmp(reply, "lost", 4))
		return DLOCK_ELOST;
	lab_fail("the command said: %.200s", reply);
	return !strncmp(reply, "unsupported", 11) ? DLOCK_ENOTSUP :
						    DLOCK_EPROTO;
}

int lab_foreign_acquire(struct lab_foreign *f, const char *name,
			int64_t timeout_ms, uint64_t *token)
{
	char request[128];
	char reply[256];
	int rc;

	snprintf(request, sizeof(request), "acquire %s %" PRId64 "\n", name,
		 timeout_ms);
	rc = code_of(ask_command(f, timeout_ms, request, reply, sizeof(reply)));
	*token = 0;
	if (rc == DLOCK_OK &&
	    ask_command(f, 0, "token\n", reply, sizeof(reply)) &&
	    !strncmp(reply, "ok ", 3))
		*token = strtoull(reply + 3, NULL, 10);
	return rc;
}

int lab_foreign_release(struct lab_foreign *f)
{
	char reply[256];

	return code_of(ask_command(f, 0, "release\n", reply, sizeof(reply)));
}

/* Become the command, in the child.  It stays in our process group, to be
 * stopped with us. */
static void become(const char *command, const char *tmp, int fd, int err,
		   pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	execl("/usr/bin/env", "env", tmp, "sh", "-c", command, (char *)NULL);
	_exit(127);
}

struct lab_foreign *lab_foreign_start(const char *command, const char *dir)
{
	struct lab_foreign *f = calloc(1, sizeof(*f));
	pid_t self = getpid();
	char hello[256];
	char tmp[600];
	int fds[2];
	int err;

	if (!f || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		lab_fail("no foreign command: %s", strerror(errno));
		free(f);
		return NULL;
	}
	snprintf(tmp, sizeof(tmp), "%.500s/foreign.log", dir);
	err = open(tmp, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	snprintf(tmp, sizeof(tmp), "TMPDIR=%.500s", dir);
	f->fd = fds[0];
	f->pid = fork();
	if (f->pid == 0)
		become(command, tmp, fds[1], err, self);
	close(fds[1]);
	if (err >= 0)
		close(err);
	if (f->pid > 0 &&
	    read_answer(f, lab_after_ms(START_MS), hello, sizeof(hello)) &&
	    !strncmp(hello, "ready", 5)) {
		snprintf(f->about, sizeof(f->about), "%.79s",
			 hello + 5 + (hello[5] == ' '));
		return f;
	}
	lab_fail("\"%.200s\" did not say \"ready\"", command);
	lab_foreign_free(f);
	return NULL;
}

const char *lab_foreign_about(const struct lab_foreign *f)
{
	return f->about;
}

static int ended(void *foreign)
{
	struct lab_foreign *f = foreign;

	return waitpid(f->pid, NULL, WNOHANG) != 0;
}

void lab_foreign_free(struct lab_foreign *f)
{
	if (!f)
		return;
	if (f->pid > 0) {
		send(f->fd, "quit\n", 5, MSG_NOSIGNAL);
		if (!lab_wait_until(lab_after_ms(1000), ended, f)) {
			kill(f->pid, SIGKILL);
			waitpid(f->pid, NULL, 0);
		}
	}
	close(f->fd);
	free(f);
}
