/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How waiters and holders learn of each other.
 *
 * The kernel reports neither that a byte was unlocked nor that somebody wants
 * it.  So a waiter *announces* itself: it opens the file read-only and closes
 * it, and holders listen for that.  A holder that releases after an
 * announcement *notifies* the waiters: it closes a description that may write,
 * and waiters listen for that.  A holder that has heard no announcement
 * notifies nobody: a release without contention is one system call.
 *
 * No wake-up is lost.  A waiter first listens, then announces itself, then
 * attempts the lock once more.  If it finds the byte locked, its announcement
 * was in the holder's queue before the unlock.  The holder's thread reads it
 * either before the release, which then notifies, or after it.  In that case
 * `silent_release` says that the release notified nobody, and the thread does
 * so now.  A holder that does not listen for announcements, because it waited
 * itself a moment ago, notifies at every release.
 *
 * The death of a holder notifies, too, as the kernel closes its descriptions.
 * But that comes a moment *before* its locks go.  So a waiter that finds the
 * same holder after a notification polls several times.
 */
#ifndef DLOCK_BACKENDS_FILE_NOTIFY_H
#define DLOCK_BACKENDS_FILE_NOTIFY_H

#include <dlock/backend.h>
#include <sys/inotify.h>

struct file_name;
struct file_session;

#define FILE_ANNOUNCEMENT IN_CLOSE_NOWRITE
#define FILE_NOTIFICATION IN_CLOSE_WRITE

struct file_notify {
	uint32_t listens_for;     /* the events of the name's watch */
	int contended;            /* a waiter may be there: notify at release */
	int silent_release;       /* released, with no notification since */
	dlk_time recent_until;    /* a notification came a moment ago */
	unsigned int round;       /* of waking our waiters */
};

/* With n->mu held: listen for notifications, and announce to holders that
 * somebody waits.  -1: we hear nothing.  May find the name stale. */
int dlki_file_announce(struct file_name *n);

/* With n->mu held, by its writer: listen for announcements from now on.  As
 * dlki_file_announce(). */
int dlki_file_hear_waiters(struct file_name *n);

/* With n->mu held, after bytes were unlocked: is a notification due?  If so,
 * close a description of the file that may write, or call
 * dlki_file_notify(). */
int dlki_file_released(struct file_name *n);

/* Without n->mu: have waiters of other sessions, or ours, attempt again. */
void dlki_file_notify(struct file_name *n);
void dlki_file_wake_waiters(struct file_name *n);

/* What the session does with an inotify event. */
void dlki_file_on_event(struct file_session *s, const struct inotify_event *ev);

#endif
