/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/notify.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/inotify.h"
#include "backends/file/name.h"
#include "backends/file/table.h"

#define RECENT_NS INT64_C(64000000)
#define CHUNK 64
#define LOOSE IN_MOVE_SELF /* the path may lead to another file */

static uint64_t id_in_round(struct file_ticket *t, unsigned int round)
{
	t->round = round;
	t->retries = 0;
	return t->base.id;
}

/* Collect the ids of up to CHUNK waiters not yet woken in this round.  Those
 * woken go to the end. */
static unsigned int next_waiters(struct file_name *n, unsigned int round,
				 uint64_t id[CHUNK])
{
	struct file_ticket *t = TAILQ_FIRST(&n->writers);
	unsigned int count = 0;

	if (t && t->round != round)
		id[count++] = id_in_round(t, round);
	while (count < CHUNK && (t = TAILQ_FIRST(&n->waiting)) &&
	       t->round != round) {
		id[count++] = id_in_round(t, round);
		TAILQ_REMOVE(&n->waiting, t, in_list);
		TAILQ_INSERT_TAIL(&n->waiting, t, in_list);
	}
	return count;
}

/* Without n->mu, which a woken waiter locks at once. */
static void wake_ids(struct file_name *n, const uint64_t id[],
		     unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		dlk_wake(&n->session->base, id[i]);
}

static void wake_round(struct file_name *n, unsigned int round)
{
	uint64_t id[CHUNK];
	unsigned int count;

	do {
		pthread_mutex_lock(&n->mu);
		count = next_waiters(n, round, id);
		pthread_mutex_unlock(&n->mu);
		wake_ids(n, id, count);
	} while (count == CHUNK);
}

void dlki_file_wake_waiters(struct file_name *n)
{
	unsigned int round;

	pthread_mutex_lock(&n->mu);
	round = ++n->notify.round;
	pthread_mutex_unlock(&n->mu);
	wake_round(n, round);
}

static int listen_for(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int wd;

	if (n->wd < 0 || n->notify.listens_for == what)
		return n->wd < 0 ? -1 : 0;
	/* By path, which is twice as fast.  If another file is there, the
	 * number of the watch is another. */
	wd = inotify_add_watch(s->inotify.fd, n->path, what | FILE_GONE);
	if (wd < 0)
		return -1;
	if (wd != n->wd) {
		(void)inotify_rm_watch(s->inotify.fd, wd);
		dlki_file_name_stale(n);
		return -1;
	}
	n->notify.listens_for = what;
	return 0;
}

/* Are there events for the pumping thread to read? */
static int events_pending(const struct file_session *s)
{
	int bytes;

	return ioctl(s->inotify.fd, FIONREAD, &bytes) < 0 || bytes;
}

/* Open and close the file: an event for each listening session. */
static int open_and_close(struct file_name *n, int mode)
{
	return dlki_file_entry_signal(n->session, n->file, mode);
}

int dlki_file_announce(struct file_name *n)
{
	uint32_t what = FILE_NOTIFICATION | (n->held ? FILE_ANNOUNCEMENT : 0);
	int deaf = 0;

	if (n->notify.listens_for != what) {
		/* From now on we may miss announcements.  A waiter may have
		 * announced itself before, at a lock released in silence:
		 * notify the waiter now.  A pumping thread with the
		 * announcement at hand waits for n->mu, and notifies. */
		if (n->notify.silent_release && events_pending(n->session)) {
			n->notify.silent_release = 0;
			(void)open_and_close(n, O_WRONLY);
		}
		dlki_file_name_watch(n);
		deaf = listen_for(n, what);
	}
	/* Announce even without hearing: the holder may keep the lock until it
	 * is wanted. */
	return open_and_close(n, O_RDONLY) < 0 || n->session->remote_ok ? -1 :
									  deaf;
}

int dlki_file_hear_waiters(struct file_name *n)
{
	uint32_t what = FILE_ANNOUNCEMENT;

	if (dlki_file_name_awaited(n))
		what |= FILE_NOTIFICATION;
	dlki_file_name_watch(n);
	return listen_for(n, what);
}

void dlki_file_hear_writes(struct file_name *n, int hear)
{
	uint32_t others = n->notify.listens_for & ~(uint32_t)FILE_WRITTEN;
	uint32_t what = others | (hear ? FILE_WRITTEN : 0);

	if (n->notify.listens_for != what)
		(void)listen_for(n, what);
}

void dlki_file_notify(struct file_name *n)
{
	int fd = -1;

	/* The fastest to close is a description kept for the next acquire.
	 * That acquire opens another, at a time when no waiter waits for it. */
	pthread_mutex_lock(&n->mu);
	if (n->n_fds)
		fd = n->fds[--n->n_fds];
	pthread_mutex_unlock(&n->mu);
	if (fd >= 0)
		dlki_file_fds_close(fd);
	else if (open_and_close(n, O_WRONLY) < 0 && n->key[0] == 'l')
		/* No descriptor is free.  New times of the file wake a lock's
		 * waiters, too; on a semaphore they are a revoke. */
		(void)futimens(n->inode_fd, NULL);
}

int dlki_file_released(struct file_name *n)
{
	struct file_notify *y = &n->notify;
	int due = y->contended || !(y->listens_for & FILE_ANNOUNCEMENT);

	y->contended = 0;
	y->silent_release = !due;
	/* Stop listening for our own notification. */
	if (due && !dlki_file_name_awaited(n))
		(void)listen_for(n, FILE_ANNOUNCEMENT);
	return due;
}

/* With n->mu held: take in an announcement.  Is a notification due? */
static int on_announcement(struct file_name *n)
{
	/* If this session has the writer again, the writer's release notifies
	 * for both. */
	int due = n->notify.silent_release && !dlki_file_name_excludes(n);

	n->notify.silent_release = 0;
	if (n->held)
		n->notify.contended = 1;
	return due;
}

/* With n->mu held: return the claim wanted by another session, if the holder is
 * to hear of the wish; or 0.  Waiters of this session do not announce
 * themselves to a writer of this session. */
static uint64_t wanted_claim(const struct file_name *n)
{
	const struct file_ticket *t = TAILQ_FIRST(&n->holding);

	return t && t->watched ? t->base.id : 0;
}

/* With n->mu held: collect the ids of up to CHUNK permits whose holders are to
 * hear of a revoke, once. */
static unsigned int next_revocable(struct file_name *n, uint64_t id[CHUNK])
{
	struct file_ticket *t = TAILQ_FIRST(&n->holding);
	unsigned int count = 0;

	for (; t && count < CHUNK; t = TAILQ_NEXT(t, in_list)) {
		if (!t->revocable)
			continue;
		t->revocable = 0;
		id[count++] = t->base.id;
	}
	return count;
}

static void on_revoke(struct file_name *n)
{
	unsigned int count;
	uint64_t id[CHUNK];

	do {
		pthread_mutex_lock(&n->mu);
		count = next_revocable(n, id);
		pthread_mutex_unlock(&n->mu);
		for (unsigned int i = 0; i < count; i++)
			dlk_wanted(&n->session->base, id[i]);
	} while (count == CHUNK);
}

static void on_notification(struct file_name *n)
{
	unsigned int count, round;
	uint64_t id[CHUNK];

	pthread_mutex_lock(&n->mu);
	n->notify.recent_until = dlk_now() + RECENT_NS;
	round = ++n->notify.round;
	count = next_waiters(n, round, id);
	pthread_mutex_unlock(&n->mu);
	wake_ids(n, id, count);
	if (count == CHUNK)
		wake_round(n, round);
}

static void on_name_event(struct file_name *n, uint32_t mask)
{
	uint64_t wanted = 0;
	int due = 0;

	if (mask & (FILE_NOTIFICATION | IN_ATTRIB))
		on_notification(n);
	if (!(mask & ~(uint32_t)FILE_NOTIFICATION))
		return;
	pthread_mutex_lock(&n->mu);
	if ((mask & IN_UNMOUNT) ||
	    ((mask & FILE_GONE) && dlki_file_name_stands(n) == 0))
		dlki_file_name_stale(n);
	if (mask & FILE_WRITTEN)
		dlki_file_hear_writes(n, 0);
	if (mask & FILE_ANNOUNCEMENT) {
		due = on_announcement(n);
		wanted = wanted_claim(n);
	}
	pthread_mutex_unlock(&n->mu);
	if (wanted)
		dlk_wanted(&n->session->base, wanted);
	if (mask & FILE_REVOKE)
		on_revoke(n);
	if (due)
		dlki_file_notify(n);
}

static void on_event_of_all(struct file_session *s, uint32_t mask)
{
	struct file_name *n = NULL;

	while ((n = dlki_file_name_next(s, n)))
		on_name_event(n, mask);
}

void dlki_file_on_event(struct file_session *s, const struct inotify_event *ev)
{
	struct file_name *n;

	if (ev->mask & IN_Q_OVERFLOW) {
		on_event_of_all(s, LOOSE | FILE_REVOKE | FILE_ANNOUNCEMENT |
					   FILE_NOTIFICATION);
		return;
	}
	n = dlki_file_name_find(s, ev->wd);
	if (n) {
		on_name_event(n, ev->mask);
		dlki_file_name_put(n);
	} else if (ev->mask & FILE_GONE) {
		/* The directory, or a name closed meanwhile. */
		on_event_of_all(s, LOOSE);
	}
}
