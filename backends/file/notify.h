/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How waiters and holders learn of each other.
 *
 * The kernel reports neither the unlock of a byte nor the wish for a locked
 * byte.  So a waiter *announces* itself by opening the file read-only and
 * closing it: holders listen for this event.  A holder that releases after an
 * announcement *notifies* the waiters by closing a writable description:
 * waiters listen for this event.  Without an announcement the holder does not
 * notify: a release without contention is one system call.
 *
 * No wake-up is lost.  A waiter first listens, then announces itself, then
 * attempts the lock once more.  If the waiter finds the byte locked, the
 * announcement was in the holder's queue before the unlock.  The holder's
 * pumping thread reads the announcement either before the release, which then
 * notifies, or after the release: then `silent_release` tells the thread to
 * notify now.  A holder that does not listen for announcements, having waited
 * itself a moment ago, notifies at every release.
 *
 * The death of a holder notifies, too, as the kernel closes the descriptions.
 * But the event comes a moment *before* the locks go.  So a waiter polls
 * several times if a notification leaves the same holder.
 */
#ifndef DLOCK_BACKENDS_FILE_NOTIFY_H
#define DLOCK_BACKENDS_FILE_NOTIFY_H

#include <dlock/backend.h>
#include <sys/inotify.h>

struct file_name;
struct file_session;

#define FILE_ANNOUNCEMENT IN_CLOSE_NOWRITE
#define FILE_NOTIFICATION IN_CLOSE_WRITE
#define FILE_REVOKE IN_ATTRIB /* of a semaphore; also the file is gone */

struct file_notify {
	uint32_t listens_for;     /* the events of the name's watch */
	int contended;            /* a waiter may be there: notify at release */
	int silent_release;       /* released, with no notification since */
	dlk_time recent_until;    /* a notification came a moment ago */
	unsigned int round;       /* of waking this session's waiters */
};

/* With n->mu held: listen for notifications, and announce a waiter to the
 * holders.  -1: no notification will be heard.  May find the name stale. */
int dlki_file_announce(struct file_name *n);

/* With n->mu held, by the writer: listen for announcements from now on.
 * Returns as dlki_file_announce(). */
int dlki_file_hear_waiters(struct file_name *n);

/* With n->mu held, by the writer, whose state is in the file: listen for writes
 * of others until the first, or for no write.  May find the name stale. */
void dlki_file_hear_writes(struct file_name *n, int hear);

/* With n->mu held, after bytes were unlocked: is a notification due?  If so,
 * close a writable description of the file, or call dlki_file_notify(). */
int dlki_file_released(struct file_name *n);

/* Without n->mu: have the waiters of other sessions (notify) or of this session
 * (wake) attempt again. */
void dlki_file_notify(struct file_name *n);
void dlki_file_wake_waiters(struct file_name *n);

/* Handle an inotify event of the session. */
void dlki_file_on_event(struct file_session *s, const struct inotify_event *ev);

#endif
