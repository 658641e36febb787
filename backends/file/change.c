/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/change.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/inotify.h"
#include "backends/file/name.h"

/* With s->mu held. */
static void open_detector(struct file_session *s)
{
	s->changes.tried = 1;
	if (dlki_file_fds_hold())
		return;
	s->changes.fd =
		dlki_file_fds_keep(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (s->changes.fd < 0 ||
	    inotify_add_watch(s->changes.fd, s->dir, FILE_DIR_GONE) >= 0)
		return;
	dlki_file_fds_close(s->changes.fd);
	s->changes.fd = -1;
}

/* The count is odd, as if a thread removed events for ever. */
void dlki_file_change_follow_dir(struct file_session *s)
{
	uint64_t blind;

	pthread_mutex_lock(&s->mu);
	if (s->changes.fd >= 0) {
		blind = inotify_add_watch(s->changes.fd, s->dir,
					  FILE_DIR_GONE) < 0;
		if (blind != (atomic_load(&s->changes.count) & 1))
			atomic_fetch_add(&s->changes.count, 1);
	}
	pthread_mutex_unlock(&s->mu);
}

void dlki_file_change_watch(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int wd;

	if (n->change.wd >= 0 && n->change.what == what)
		return;
	pthread_mutex_lock(&s->mu);
	if (!s->changes.tried)
		open_detector(s);
	pthread_mutex_unlock(&s->mu);
	n->change.checked = 0;
	if (s->changes.fd < 0)
		return;
	wd = dlki_file_inotify_add(s->changes.fd, n->inode_fd,
				   what | FILE_GONE);
	if (wd < 0)
		return;
	n->change.wd = wd;
	n->change.what = what;
}

void dlki_file_change_end(struct file_name *n)
{
	n->change.checked = 0;
	if (n->change.wd >= 0)
		(void)inotify_rm_watch(n->session->changes.fd, n->change.wd);
	n->change.wd = -1;
}

/* Drain the queue.  The count is odd meanwhile, and has changed afterwards, so
 * that another thread does not take the emptied queue for no events. */
static void drain_events(struct file_session *s)
{
	char buf[4096];

	pthread_mutex_lock(&s->mu);
	atomic_fetch_add(&s->changes.count, 1);
	while (read(s->changes.fd, buf, sizeof(buf)) > 0)
		;
	atomic_fetch_add(&s->changes.count, 1);
	pthread_mutex_unlock(&s->mu);
}

int dlki_file_unchanged(const struct file_name *n)
{
	struct file_session *s = n->session;
	uint64_t count = atomic_load(&s->changes.count);
	int pending;

	if (n->change.wd < 0 || n->change.checked != count || count & 1)
		return 0;
	if (ioctl(s->changes.fd, FIONREAD, &pending) < 0)
		return 0;
	if (pending)
		drain_events(s);
	return atomic_load(&s->changes.count) == count;
}
