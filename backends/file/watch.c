/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watcher: one inotify descriptor and one thread a session.  It hears
 * knocks and rings (bell.c), and that files are removed.
 */
#include "file.h"
#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define LOOSE IN_ATTRIB /* perhaps gone */

static void heard(struct file_name *n, uint32_t mask)
{
	int ring = 0;

	if (mask & FILE_RING)
		dlki_file_rung(n);
	if (!(mask & ~(uint32_t)FILE_RING))
		return;
	pthread_mutex_lock(&n->mu);
	if ((mask & IN_UNMOUNT) ||
	    ((mask & FILE_GONE) && dlki_file_name_stands(n) == 0))
		dlki_file_name_stale(n);
	if (mask & FILE_KNOCK)
		ring = dlki_file_knocked(n);
	pthread_mutex_unlock(&n->mu);
	if (ring)
		dlki_file_ring(n);
}

static void heard_all(struct file_session *s, uint32_t mask)
{
	struct file_name *n = NULL;

	while ((n = dlki_file_name_next(s, n)))
		heard(n, mask);
}

static void event(struct file_session *s, const struct inotify_event *ev)
{
	struct file_name *n;

	if (ev->mask & IN_Q_OVERFLOW) {
		heard_all(s, LOOSE | FILE_KNOCK | FILE_RING);
		return;
	}
	n = dlki_file_name_find(s, ev->wd);
	if (n) {
		heard(n, ev->mask);
		dlki_file_name_put(n);
	} else if (ev->mask & FILE_GONE) {
		/* The directory, or a name that was closed meanwhile. */
		heard_all(s, LOOSE);
	}
}

/* Reads for ever, without poll(): whoever waits for us waits for one system
 * call less.  Stopped by the end of the guard's watch, which is an event. */
static void *watcher(void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct file_session *s = arg;
	const struct inotify_event *ev;
	ssize_t n, at;

	while (!atomic_load(&s->stopping)) {
		n = read(s->inotify, buf, sizeof(buf));
		for (at = 0; at < n; at += (ssize_t)(sizeof(*ev) + ev->len)) {
			ev = (const void *)(buf + at);
			event(s, ev);
		}
	}
	return NULL;
}

static void complain(struct file_session *s, const char *what, int errnum)
{
	enum file_warning none = FILE_WARN_NONE;

	if (!atomic_compare_exchange_strong(&s->warning, &none,
					    FILE_WARN_WRITTEN))
		return;
	s->warning_what = what;
	s->warning_errnum = errnum;
	atomic_store(&s->warning, FILE_WARN_DUE);
}

void dlki_file_watch_warn(struct file_session *s)
{
	enum file_warning due = FILE_WARN_DUE;

	if (atomic_load(&s->warning) == FILE_WARN_DUE &&
	    atomic_compare_exchange_strong(&s->warning, &due, FILE_WARN_SAID))
		dlk_log(&s->base, 1,
			"%s: %s; waiters look every 50ms, and a "
			"removed lock file is noticed every third of the ttl",
			s->warning_what, dlki_errno_text(s->warning_errnum));
}

static int descriptors(struct file_session *s)
{
	if (dlki_file_fds_hold())
		return -1;
	s->inotify = dlki_file_fds_keep(inotify_init1(IN_CLOEXEC));
	if (s->inotify < 0)
		return -1;
	s->guard = inotify_add_watch(s->inotify, "/", IN_DELETE_SELF);
	if (s->guard < 0)
		return -1;
	return inotify_add_watch(s->inotify, s->dir, FILE_DIR_GONE);
}

/* With s->mu held. */
static void start(struct file_session *s)
{
	int rc;

	s->watching = -1;
	if (descriptors(s) < 0) {
		complain(s, "no inotify", errno);
	} else {
		rc = dlk_thread(&s->watcher, "dlock-file", watcher, s);
		if (!rc) {
			s->watching = 1;
			return;
		}
		complain(s, "no thread for inotify", rc);
	}
	dlki_file_fds_close(s->inotify);
	s->inotify = -1;
}

void dlki_file_watch_stop(struct file_session *s)
{
	if (s->watching < 1)
		return;
	atomic_store(&s->stopping, 1);
	(void)inotify_rm_watch(s->inotify, s->guard);
	pthread_join(s->watcher, NULL);
	dlki_file_fds_close(s->inotify);
	s->inotify = -1;
	s->watching = -1;
}

void dlki_file_watch_dir(struct file_session *s)
{
	pthread_mutex_lock(&s->mu);
	if (s->watching == 1)
		(void)inotify_add_watch(s->inotify, s->dir, FILE_DIR_GONE);
	if (s->quiet >= 0)
		(void)inotify_add_watch(s->quiet, s->dir, FILE_DIR_GONE);
	pthread_mutex_unlock(&s->mu);
}

int dlki_file_watch(struct file_name *n)
{
	struct file_session *s = n->session;
	int wd;

	pthread_mutex_lock(&s->mu);
	if (!s->watching)
		start(s);
	pthread_mutex_unlock(&s->mu);
	if (s->watching < 0)
		return -1;
	wd = dlki_file_add_watch(n, s->inotify, FILE_KNOCK);
	if (wd < 0) {
		complain(s, "no inotify watch", errno);
		return -1;
	}
	n->hears = FILE_KNOCK;
	dlki_file_name_wd(n, wd);
	return 0;
}

int dlki_file_add_watch(struct file_name *n, int inotify, uint32_t what)
{
	char path[32];

	/* By descriptor: the path may lead to another file by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", n->pin);
	return inotify_add_watch(inotify, path, what | FILE_GONE);
}
