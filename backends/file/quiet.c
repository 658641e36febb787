/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has anything happened to the file since we looked?
 *
 * Who takes a lock more than a few times need not look at its path each time:
 * a second inotify descriptor, which nobody waits at, collects what others do
 * to the file, and its being empty (one FIONREAD) says that what we know still
 * holds.  In a tight loop with nobody else there, that goes for the state in
 * the file too.  Writing and removal are in the queue before the system call
 * that does it lets go of the lock or the directory, and so before anybody else
 * can have the lock, or a new file come into being under the name.
 *
 * Events are not looked at: any one makes every name of the session look again.
 */
#include "file.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* With s->mu held. */
static void start(struct file_session *s)
{
	s->quiet_tried = 1;
	if (dlki_file_fds_hold())
		return;
	s->quiet = dlki_file_fds_keep(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
	if (s->quiet < 0 ||
	    inotify_add_watch(s->quiet, s->dir, FILE_DIR_GONE) >= 0)
		return;
	dlki_file_fds_close(s->quiet);
	s->quiet = -1;
}

void dlki_file_quiet_begin(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int wd;

	if (n->quiet_wd >= 0 && n->quiet_what == what)
		return;
	pthread_mutex_lock(&s->mu);
	if (!s->quiet_tried)
		start(s);
	pthread_mutex_unlock(&s->mu);
	n->looked = 0;
	if (s->quiet < 0)
		return;
	wd = dlki_file_add_watch(n, s->quiet, what);
	if (wd < 0)
		return;
	n->quiet_wd = wd;
	n->quiet_what = what;
}

void dlki_file_quiet_end(struct file_name *n)
{
	n->looked = 0;
	if (n->quiet_wd >= 0)
		(void)inotify_rm_watch(n->session->quiet, n->quiet_wd);
	n->quiet_wd = -1;
}

/* The count is odd meanwhile, and then another: who finds the queue empty
 * because of us, finds that. */
static void drain(struct file_session *s)
{
	char buf[4096];

	pthread_mutex_lock(&s->mu);
	atomic_fetch_add(&s->changes, 1);
	while (read(s->quiet, buf, sizeof(buf)) > 0)
		;
	atomic_fetch_add(&s->changes, 1);
	pthread_mutex_unlock(&s->mu);
}

int dlki_file_quiet(const struct file_name *n)
{
	struct file_session *s = n->session;
	uint64_t changes = atomic_load(&s->changes);
	int pending;

	if (n->quiet_wd < 0 || n->looked != changes || changes & 1)
		return 0;
	if (ioctl(s->quiet, FIONREAD, &pending) < 0)
		return 0;
	if (pending)
		drain(s);
	return atomic_load(&s->changes) == changes;
}
