/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file store: a file for each lock.  A holder locks bytes of the file
 * (bytes.h), by open file description, and the kernel drops the locks of a
 * process that dies.  Waiters and holders hear of each other by inotify
 * (notify.h).
 *
 * Calls between the files go down this list only:
 *
 *   file.c attempt.c renew.c release.c wanted.c inspect.c resize.c
 *   break.c                   the verbs
 *   token.c                   fencing tokens
 *   beside.c                  an upgrade and the reader beside it
 *   notify.c                  waiters and holders tell each other
 *   gate.c                    keeps later tickets behind a ticket that waits
 *   permits.c                 several permits at once
 *   slot.c                    bytes and records that name participants
 *   name.c                    a lock file as this session has it open
 *   table.c                   all names of a session
 *   sweep.c                   removes the file of a name that leaves the table
 *   floor.c                   tokens of files that were removed
 *   dir.c                     the directory, and the files in it
 *   share.c                   which users share the locks
 *   inotify.c                 the descriptor by which the session hears; was a
 *                             file touched?
 *   bytes.c state.c fds.c     system calls
 */
#ifndef DLOCK_BACKENDS_FILE_FILE_H
#define DLOCK_BACKENDS_FILE_FILE_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "backends/file/inotify.h"
#include "backends/file/share.h"
#include "backends/file/table.h"
#include "core/base/verb.h"

struct file_name;

/* mu protects `table`, and the start of the inotify descriptor. */
struct file_session {
	struct dlk_session base;
	char *dir;
	char *prefix;             /* of every file, with a dot */
	int dirfd;                /* the number stays, not the directory */
	int remote_ok, sync, keep_files;
	enum file_share share;
	uint64_t id;              /* random, no secret */

	pthread_mutex_t mu;
	struct file_table table;
	struct file_inotify inotify;
};

/* The bytes that a ticket has locked: */
enum file_owns {
	FILE_OWNS_NOTHING,        /* no byte; fd is invalid */
	FILE_OWNS_GATE,           /* by fd: GATE, a writer behind readers;
				   * LINE, a request for several permits */
	FILE_OWNS_LOCK            /* all bytes that a holder needs, by fd */
};

/* Under name->mu, except in a call of the core for this ticket. */
struct file_ticket {
	struct dlk_ticket base;
	struct file_name *name;
	enum file_owns owns;
	int fd;
	struct file_ticket *beside; /* of an upgrade that holds: the reader with
				     * the same fd */
	dlk_time deadline;        /* of this attempt */
	int waits;                /* is in dlki_file_waiting() */
	int behind_writer;        /* the last obstacle was a writer */
	int watched;              /* a writer's: the core is told of others, and
				   * tokens are set aside */
	int revocable;            /* a permit's: the core is told of a revoke */
	uint32_t waiter_slot;     /* counted from 1; 0: no slot */
	uint32_t slot;            /* a reader's or a permit's, or the first of
				   * several */
	uint64_t slots;           /* of several permits: bitmap of the slots
				   * that have records */
	uint32_t limit, is_set;   /* the semaphore's, as in the state */
	int notify, wake;         /* due when name->mu is unlocked */
	unsigned int polls;       /* since the last notification */
	unsigned int retries;     /* ... of attempts to repeat soon */
	unsigned int round;       /* the last round that woke the ticket */
	uint64_t seen;            /* the state's seq when last busy */
	dlk_time idle_gate;       /* since when the gate is shut for nothing */
	TAILQ_ENTRY(file_ticket) in_list; /* of the name */
};

static inline struct file_session *file_session(struct dlk_session *s)
{
	return (struct file_session *)(void *)s;
}

static inline struct file_ticket *file_ticket(struct dlk_ticket *t)
{
	return (struct file_ticket *)(void *)t;
}

/* ---- The verbs ----------------------------------------------------------- */

DLKI_VERB(attempt) dlki_file_attempt;
DLKI_VERB(renew) dlki_file_renew;
DLKI_VERB(release) dlki_file_release;
DLKI_VERB(downgrade) dlki_file_downgrade;
DLKI_VERB(watch_wanted) dlki_file_watch_wanted;
DLKI_VERB(revoke) dlki_file_revoke;
DLKI_VERB(inspect) dlki_file_inspect;
DLKI_VERB(list) dlki_file_list;
DLKI_VERB(resize) dlki_file_resize;
DLKI_VERB(break_) dlki_file_break;

#endif
