/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change detector: has another process written or removed a file since this
 * session read it?
 *
 * A client that takes a lock more than a few times need not check the file's
 * path each time.  The kernel queues what others do to the file in a second
 * inotify descriptor, which no thread reads.  While the queue is empty (one
 * FIONREAD), the session's knowledge of the file still holds; in a tight loop
 * without contention, also the session's copy of the state.  The kernel queues
 * the event of a write before the writer can unlock, and the event of a removal
 * before the directory is unlocked: so before another client can have the lock,
 * and before a new file can have the name.
 *
 * The events are not parsed: each makes all names of the session check again.
 */
#ifndef DLOCK_BACKENDS_FILE_CHANGE_H
#define DLOCK_BACKENDS_FILE_CHANGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/inotify.h>

struct file_name;
struct file_session;

#define FILE_WRITTEN IN_MODIFY

/* Of a session. */
struct file_changes {
	int tried;                /* to open the descriptor */
	int fd;                   /* or -1 */
	_Atomic uint64_t count;   /* raised when there were events; odd while a
				   * thread removes them, and while the
				   * directory is not watched; begins with 2 */
};

/* Of a name. */
struct file_change {
	int wd;                   /* the watch, or -1 */
	uint32_t what;            /* FILE_WRITTEN and removal, or removal */
	uint64_t checked;         /* the session's count before we read the file
				   * and checked the path; 0: never */
};

/* All with n->mu held.  Watch the file for `what` and removal, instead of the
 * events watched before.  Call this before reading the count. */
void dlki_file_change_watch(struct file_name *n, uint32_t what);
void dlki_file_change_end(struct file_name *n);

/* Watch the directory now at the session's path.  If the watch is impossible,
 * no file counts as unchanged. */
void dlki_file_change_follow_dir(struct file_session *s);

/* Is the file unchanged since n->change.checked? */
int dlki_file_unchanged(const struct file_name *n);

#endif
