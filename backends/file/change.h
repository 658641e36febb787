/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change detector: has anybody touched a file since we read it?
 *
 * A client that takes a lock more than a few times need not check the file's
 * path each time.  A second inotify descriptor, which no thread reads, collects
 * what others do to the file.  While it is empty (one FIONREAD), what we know
 * still holds.  In a tight loop without contention that includes the state in
 * the file.  The kernel queues the event of a write before the writer can
 * unlock, and that of a removal before the directory is unlocked: so before
 * anybody else can have the lock, and before a new file can have the name.
 *
 * Nobody parses the events: any of them makes all names of the session check
 * again.
 */
#ifndef DLOCK_BACKENDS_FILE_CHANGE_H
#define DLOCK_BACKENDS_FILE_CHANGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/inotify.h>

struct file_name;

#define FILE_WRITTEN IN_MODIFY

/* Of a session. */
struct file_changes {
	int tried;                /* to open the descriptor */
	int fd;                   /* or -1 */
	_Atomic uint64_t count;   /* raised when there were events; odd while
				   * they are removed; begins with 2 */
};

/* Of a name. */
struct file_change {
	int wd;                   /* the watch, or -1 */
	uint32_t what;            /* FILE_WRITTEN and removal, or only that */
	uint64_t checked;         /* the session's count before we read the file
				   * and checked its path; 0: never */
};

/* All with n->mu held.  Watch for `what` and removal from now on, and not for
 * what was watched before; call it before the count is read. */
void dlki_file_change_watch(struct file_name *n, uint32_t what);
void dlki_file_change_end(struct file_name *n);

/* Is everything as it was at n->change.checked? */
int dlki_file_unchanged(const struct file_name *n);

#endif
