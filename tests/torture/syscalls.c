/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call that may fail does, in the scenes with that call. */
#include "torture/torture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int exhausted[] = { DLOCK_EEXHAUSTED, 0 };
static const int failing[] = { DLOCK_ESYSTEM, 0 };
static const int nomem[] = { DLOCK_ENOMEM, 0 };
static const int fine[] = { 0 };

static const struct {
	const char *name;
	enum seam seam;
	int errnum;
	const int *codes;
	const char *scene;
} faults[] = {
	{ "getrandom EIO", SEAM_GETRANDOM, EIO, failing, "open" },
	{ "getrandom ENOSYS", SEAM_GETRANDOM, ENOSYS, failing, "many" },
	{ "getrandom no bytes", SEAM_GETRANDOM, 0, failing, "many" },
	{ "getrandom EINTR", SEAM_GETRANDOM, EINTR, fine, "many" },
	{ "timerfd_create EMFILE", SEAM_TIMERFD, EMFILE, exhausted, "open" },
	{ "timerfd_create ENOMEM", SEAM_TIMERFD, ENOMEM, nomem, "open" },
	{ "eventfd EMFILE", SEAM_EVENTFD, EMFILE, exhausted, "open" },
	{ "eventfd ENFILE", SEAM_EVENTFD, ENFILE, exhausted, "acquire" },
	{ "eventfd ENODEV", SEAM_EVENTFD, ENODEV, failing, "multi" },
	{ "epoll_create1 EMFILE", SEAM_EPOLL_CREATE, EMFILE, exhausted,
	  "multi" },
	{ "epoll_ctl ENOMEM", SEAM_EPOLL_CTL, ENOMEM, nomem, "multi" },
	{ "epoll_ctl ENOSPC", SEAM_EPOLL_CTL, ENOSPC, failing, "multi" },
	{ "pthread_create EAGAIN", SEAM_THREAD, EAGAIN, exhausted, "open" },
	{ "pthread_create EPERM", SEAM_THREAD, EPERM,
	  (const int[]){ DLOCK_EDENIED, 0 }, "acquire" },
	{ "pthread_create EAGAIN", SEAM_THREAD, EAGAIN, exhausted, "async" },
	{ "eventfd EMFILE", SEAM_EVENTFD, EMFILE, exhausted, "wanted" },
	{ "pthread_create EAGAIN", SEAM_THREAD, EAGAIN, exhausted,
	  "async_open" },
	{ "pthread_create EAGAIN", SEAM_THREAD, EAGAIN, exhausted,
	  "async_close" },
	{ "pthread_create EAGAIN", SEAM_THREAD, EAGAIN, exhausted,
	  "async_multi" },
};

static const struct scene *scene(const char *name)
{
	const struct scene *s = scenes;

	while (s->name && strcmp(s->name, name) != 0)
		s++;
	return s;
}

void torture_syscalls(const char *uri)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		torture(scene(faults[i].scene), uri, faults[i].seam,
			faults[i].errnum, faults[i].codes, faults[i].name);
}

/* In a process without a mark: 0, or the error. */
static int without_a_mark(enum seam seam)
{
	struct play p = { .uri = "mem:", .codes = fine };
	dlock_client *c = NULL;
	dlock_lock *l = NULL;
	int status, fired;
	pid_t pid;

	seam_arm(seam, 1, ENOMEM, 1);
	scene("acquire")->play(&p);
	fired = seam_disarm();
	if (p.failed || !fired)
		return 1;
	if (dlock_open(&c, "mem:", NULL) < 0 || dlock_mutex_new(&l, c, "m") < 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		dlock_hold *h = NULL;

		_exit(dlock_acquire(l, 0, &h) != DLOCK_EFORKED);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 3;
	dlock_lock_free(l);
	dlock_close(c);
	return 0;
}

/* Where the kernel wipes no page on fork, the process id does. */
void torture_marker(void)
{
	static const struct {
		const char *name;
		enum seam seam;
	} marks[] = { { "mmap", SEAM_MMAP }, { "madvise", SEAM_MADVISE } };

	for (size_t i = 0; i < 2; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			alarm(60);
			exit(without_a_mark(marks[i].seam));
		}
		if (waitpid(pid, &status, 0) == pid && status == 0)
			passed("no mark for want of %s", marks[i].name);
		else
			failed("no mark for want of %s: status %d",
			       marks[i].name, status);
	}
}
