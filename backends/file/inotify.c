/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/inotify.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "core/base/error.h"

/* Reads without poll(), for ever: a notified waiter waits for one system call
 * less.  The end of the guard's watch is an event, too, and ends the thread. */
static void *read_events(void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct file_session *s = arg;
	const struct inotify_event *ev;
	ssize_t n, at;

	while (!atomic_load(&s->inotify.stopping)) {
		n = read(s->inotify.fd, buf, sizeof(buf));
		for (at = 0; at < n; at += (ssize_t)(sizeof(*ev) + ev->len)) {
			ev = (const void *)(buf + at);
			s->inotify.on_event(s, ev);
		}
	}
	return NULL;
}

static void warn_of_polling(struct file_session *s, const char *what,
			    int errnum)
{
	if (!atomic_exchange(&s->inotify.warned, 1))
		dlk_log(&s->base, 1,
			"%s: %s; waiters poll every 50ms, and a "
			"removed lock file is noticed every third of the ttl",
			what, dlki_errno_text(errnum));
}

static int open_descriptor(struct file_session *s)
{
	if (dlki_file_fds_hold())
		return -1;
	s->inotify.fd = dlki_file_fds_keep(inotify_init1(IN_CLOEXEC));
	if (s->inotify.fd < 0)
		return -1;
	s->inotify.guard = inotify_add_watch(s->inotify.fd, "/",
					     IN_DELETE_SELF);
	if (s->inotify.guard < 0)
		return -1;
	return inotify_add_watch(s->inotify.fd, s->dir, FILE_DIR_GONE);
}

/* With s->mu held. */
static void start_thread(struct file_session *s)
{
	int rc;

	s->inotify.running = -1;
	if (open_descriptor(s) < 0) {
		warn_of_polling(s, "no inotify", errno);
	} else {
		rc = dlk_thread(&s->inotify.thread, "dlock-file", read_events,
				s);
		if (!rc) {
			s->inotify.running = 1;
			return;
		}
		warn_of_polling(s, "no thread for inotify", rc);
	}
	dlki_file_fds_close(s->inotify.fd);
	s->inotify.fd = -1;
}

void dlki_file_inotify_stop(struct file_session *s)
{
	if (s->inotify.running < 1)
		return;
	atomic_store(&s->inotify.stopping, 1);
	(void)inotify_rm_watch(s->inotify.fd, s->inotify.guard);
	pthread_join(s->inotify.thread, NULL);
	dlki_file_fds_close(s->inotify.fd);
	s->inotify.fd = -1;
	s->inotify.running = -1;
}

void dlki_file_inotify_follow_dir(struct file_session *s)
{
	pthread_mutex_lock(&s->mu);
	if (s->inotify.running == 1)
		(void)inotify_add_watch(s->inotify.fd, s->dir, FILE_DIR_GONE);
	if (s->changes.fd >= 0)
		(void)inotify_add_watch(s->changes.fd, s->dir, FILE_DIR_GONE);
	pthread_mutex_unlock(&s->mu);
}

int dlki_file_inotify_watch(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int wd;

	pthread_mutex_lock(&s->mu);
	if (!s->inotify.running)
		start_thread(s);
	pthread_mutex_unlock(&s->mu);
	if (s->inotify.running < 0)
		return -1;
	wd = dlki_file_inotify_add(s->inotify.fd, n->inode_fd,
				   what | FILE_GONE);
	if (wd < 0)
		warn_of_polling(s, "no inotify watch", errno);
	return wd;
}

int dlki_file_inotify_add(int fd, int file_fd, uint32_t what)
{
	char path[32];

	/* By descriptor: the path may lead to another file by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return inotify_add_watch(fd, path, what);
}
