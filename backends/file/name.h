/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock file as this session has it open: an inode, not a path.  When the file
 * is removed or replaced, the name becomes stale and leaves the table.  A new
 * name takes the place, and the stale name is freed with the last ticket.
 */
#ifndef DLOCK_BACKENDS_FILE_NAME_H
#define DLOCK_BACKENDS_FILE_NAME_H

#include <dlock/backend.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "backends/file/notify.h"
#include "backends/file/token.h"

#define FILE_FREE_FDS 4 /* kept open for the next acquires */

struct file_session;
struct file_ticket;

TAILQ_HEAD(file_list, file_ticket);

/*
 * Under session->mu: refs, sweep and the links.  Under either mutex to read and
 * both to write: stale and wd.  Under mu: all other members from `mu` on.  mu
 * is locked before session->mu, never after it.
 */
struct file_name {
	struct file_session *session;
	const char *file;         /* within the directory */
	const char *path;         /* with the directory */
	const char *key;
	uint32_t hash;
	unsigned int refs;
	uint64_t sweep;           /* the last sweep over this name */
	struct file_name *by_key, *by_wd;  /* next in their buckets */
	TAILQ_ENTRY(file_name) in_idle;

	pthread_mutex_t mu;
	int opened;               /* dev and ino are known */
	int stale;                /* `path` leads elsewhere, or nowhere */
	int inode_fd;             /* open as long as the name, so that the
				   * inode's number is not used again; has the
				   * locks of WAITERS only */
	dev_t dev;
	ino_t ino;
	int fds[FILE_FREE_FDS];   /* without locks */
	unsigned int n_fds;

	unsigned int held;        /* tickets with a locked byte */
	struct file_list writers; /* that wait, but for upgrades: a writer is
				   * woken when it is the first */
	struct file_list waiting; /* the other waiters: all are woken */
	struct file_list holding;
	uint64_t waiter_slots;    /* bitmap of our waiters' slots */
	uint32_t last_slot;       /* the reader's or permit's used last */

	int wd;                   /* inotify watch, or -1 */
	uint64_t checked;         /* the session's inotify.count before we read
				   * the file and checked the path; 0: never */
	struct file_notify notify;
	struct file_tokens tokens;
};

/* With n->mu held, unless a comment says otherwise. */

/* Get an open file description for one ticket, without locks.  1; 0: the name
 * is stale now; or the error. */
int dlki_file_fd_get(struct file_name *n, int *fd, struct dlk_error *err);
void dlki_file_fd_put(struct file_name *n, int fd);

/* Without n->mu: borrow a free description for a moment; -1 if there is no free
 * description, or the name is stale. */
int dlki_file_fd_borrow(struct file_name *n);
void dlki_file_fd_return(struct file_name *n, int fd);

/* Does `path` still lead to this file?  1, 0, or -1 and errno. */
int dlki_file_name_stands(const struct file_name *n);

/* Make the name stale, and tell holders and waiters. */
void dlki_file_name_stale(struct file_name *n);

/* Watch the file, unless it is watched already; inotify may be at a limit. */
void dlki_file_name_watch(struct file_name *n);

/* Does a ticket of this session hold the lock as the writer? */
int dlki_file_name_excludes(const struct file_name *n);

/* Does a ticket of this session wait? */
static inline int dlki_file_name_awaited(const struct file_name *n)
{
	return !TAILQ_EMPTY(&n->writers) || !TAILQ_EMPTY(&n->waiting);
}

/* Return the list for this ticket while it waits. */
struct file_list *dlki_file_waiting(struct file_ticket *t);

#endif
