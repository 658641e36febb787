/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/inotify.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/name.h"
#include "core/base/error.h"

#define RETRY_NS (1000 * DLK_MS) /* a close of the descriptor is slow */

struct events {
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t n;
};

static const struct inotify_event *next_event(const struct events *e,
					      ssize_t *at)
{
	const struct inotify_event *ev = (const void *)(e->buf + *at);

	if (*at >= e->n)
		return NULL;
	*at += (ssize_t)(sizeof(*ev) + ev->len);
	return ev;
}

/* Read once.  The count is odd meanwhile, so that another thread does not take
 * the emptied queue for no events. */
static void read_events(struct file_session *s, struct events *e)
{
	const uint32_t notices = IN_CLOSE_NOWRITE | IN_CLOSE_WRITE;
	const struct inotify_event *ev;
	uint32_t mask = 0;

	atomic_fetch_add(&s->inotify.count, 1);
	e->n = read(s->inotify.fd, e->buf, sizeof(e->buf));
	for (ssize_t at = 0; (ev = next_event(e, &at));)
		mask |= ev->mask;
	if (mask & ~notices)
		atomic_fetch_add(&s->inotify.count, 1);
	else
		atomic_fetch_sub(&s->inotify.count, 1);
}

/* Read once.  0: there were no events. */
static int take_in(struct file_session *s)
{
	const struct inotify_event *ev;
	struct events e;

	read_events(s, &e);
	for (ssize_t at = 0; (ev = next_event(&e, &at));)
		s->inotify.on_event(s, ev);
	return e.n > 0;
}

void dlki_file_pump(struct dlk_session *base)
{
	(void)take_in(file_session(base));
}

static void warn_of_polling(struct file_session *s, const char *what,
			    const char *why)
{
	if (!atomic_exchange(&s->inotify.warned, 1))
		dlk_log(&s->base, 1,
			"%s: %s; waiters poll every 50ms, and a "
			"removed lock file is noticed every third of the ttl",
			what, why);
}

static int open_descriptor(struct file_session *s)
{
	if (dlki_file_fds_hold())
		return -1;
	s->inotify.fd =
		dlki_file_fds_keep(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (s->inotify.fd < 0)
		return -1;
	return inotify_add_watch(s->inotify.fd, s->dir, FILE_DIR_GONE);
}

/* With s->mu held. */
static void start_listening(struct file_session *s)
{
	struct dlk_error err;

	if (open_descriptor(s) < 0) {
		warn_of_polling(s, "no inotify", dlki_errno_text(errno));
	} else if (dlk_listen(&s->base, s->inotify.fd, &err) != 0) {
		warn_of_polling(s, "no inotify", err.text);
	} else {
		s->inotify.running = 1;
		return;
	}
	dlki_file_fds_close(s->inotify.fd);
	s->inotify.fd = -1;
	s->inotify.retry_at = dlk_now() + RETRY_NS;
}

/* Take in the events left: a waiter may have announced itself to the last
 * hold. */
void dlki_file_inotify_stop(struct file_session *s)
{
	if (s->inotify.running < 1)
		return;
	(void)dlk_listen(&s->base, -1, NULL);
	while (take_in(s))
		continue;
	dlki_file_fds_close(s->inotify.fd);
	s->inotify.fd = -1;
	s->inotify.running = -1;
}

void dlki_file_inotify_follow_dir(struct file_session *s)
{
	int blind;

	pthread_mutex_lock(&s->mu);
	if (s->inotify.running == 1) {
		blind = inotify_add_watch(s->inotify.fd, s->dir,
					  FILE_DIR_GONE) < 0;
		/* Files checked without a watch are checked again. */
		atomic_fetch_add(&s->inotify.count, 2);
		atomic_store(&s->inotify.blind, blind);
	}
	pthread_mutex_unlock(&s->mu);
}

int dlki_file_unchanged(const struct file_name *n)
{
	struct file_inotify *i = &n->session->inotify;
	uint64_t count = atomic_load(&i->count);
	int pending;

	/* inotify is silent about other hosts. */
	if (n->session->remote_ok || n->wd < 0 || n->checked != count ||
	    count & 1 || atomic_load(&i->blind))
		return 0;
	return ioctl(i->fd, FIONREAD, &pending) == 0 && !pending &&
	       atomic_load(&i->count) == count;
}

int dlki_file_inotify_watch(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int running, wd;

	pthread_mutex_lock(&s->mu);
	if (!s->inotify.running && dlk_now() >= s->inotify.retry_at)
		start_listening(s);
	running = s->inotify.running;
	pthread_mutex_unlock(&s->mu);
	if (running < 1)
		return -1;
	wd = dlki_file_inotify_add(s->inotify.fd, n->inode_fd,
				   what | FILE_GONE);
	if (wd < 0)
		warn_of_polling(s, "no inotify watch", dlki_errno_text(errno));
	return wd;
}

int dlki_file_inotify_add(int fd, int file_fd, uint32_t what)
{
	char path[32];

	/* By descriptor: another file may be at the path by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return inotify_add_watch(fd, path, what);
}
