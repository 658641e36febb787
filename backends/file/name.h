/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock file as this session has it open: an inode, not a path.  When the
 * file is removed or replaced, the name becomes stale and leaves the table.  A
 * new one takes its place, and the stale one is freed with its last ticket.
 */
#ifndef DLOCK_BACKENDS_FILE_NAME_H
#define DLOCK_BACKENDS_FILE_NAME_H

#include <dlock/backend.h>
#include <sys/types.h>

#include "backends/file/change.h"
#include "backends/file/notify.h"
#include "backends/file/token.h"

#define FILE_FREE_FDS 4 /* kept open for the next acquires */

struct file_session;
struct file_ticket;

struct file_list {
	struct file_ticket *head;
};

/*
 * Under session->mu: refs, sweep and the links.  Under either mutex to read and
 * both to write: stale and wd.  Under mu: all else from `mu` on.  mu is locked
 * before session->mu, never after it.
 */
struct file_name {
	struct file_session *session;
	const char *file;         /* within the directory */
	const char *path;         /* the whole of it */
	const char *key;
	uint32_t hash;
	unsigned int refs;
	uint64_t sweep;           /* the last one that met it */
	struct file_name *by_key, *by_wd;  /* next in their buckets */
	struct file_name *idle_prev, *idle_next;

	pthread_mutex_t mu;
	int opened;               /* dev and ino are known */
	int stale;                /* `path` is another file now, or none */
	int inode_fd;             /* open as long as the name, so that the
				   * inode's number is not used again; has the
				   * locks of WAITERS only */
	dev_t dev;
	ino_t ino;
	int fds[FILE_FREE_FDS];   /* without locks */
	unsigned int n_fds;

	unsigned int held;        /* tickets that have locked any byte */
	struct file_list waiting, holding;
	uint64_t waiter_slots;    /* bitmap of those that are ours */
	uint32_t last_slot;       /* the reader's or permit's used last */

	int wd;                   /* inotify watch, or -1 */
	struct file_notify notify;
	struct file_change change;
	struct file_tokens tokens;
};

/* With n->mu held, but where it says otherwise. */

/* An open file description of its own, without locks.  1; 0: the name is stale
 * now; or the error. */
int dlki_file_fd_get(struct file_name *n, int *fd, struct dlk_error *err);
void dlki_file_fd_put(struct file_name *n, int fd);

/* Without n->mu: the same for a moment, if one is at hand and its file is the
 * one at the path; or -1. */
int dlki_file_fd_borrow(struct file_name *n);
void dlki_file_fd_return(struct file_name *n, int fd);

/* Is `path` still this file?  1, 0, or -1 and errno when it cannot be told. */
int dlki_file_name_stands(const struct file_name *n);

/* It is not: make the name stale, and tell its holders and waiters. */
void dlki_file_name_stale(struct file_name *n);

/* Does a ticket of this session hold the lock as its writer? */
int dlki_file_name_excludes(const struct file_name *n);

void dlki_file_list_add(struct file_list *l, struct file_ticket *t);
void dlki_file_list_del(struct file_list *l, struct file_ticket *t);

#endif
