/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of a lock file: a header, which never changes and names the
 * lock, and a state (the fencing token, its writer, a semaphore's limit) in two
 * checksummed copies.  A write replaces the older copy, so a torn write leaves
 * the younger copy.  If both are bad, the token starts again from the clock.
 *
 *      0  header
 *    512  state, copy 0
 *   1024  state, copy 1
 *   1536  hint: the permit's slot that was freed last
 *   2048  participants, for inspect(): FILE_HOLDER_SLOTS holders of a share,
 *         then FILE_WAITER_SLOTS waiters
 *
 * Integers are the host's: the file is of no use to another machine.
 */
#ifndef DLOCK_BACKENDS_FILE_STATE_H
#define DLOCK_BACKENDS_FILE_STATE_H

#include <dlock/backend.h>
#include <sys/types.h>

#define FILE_FORMAT 2           /* magic and version stay in every format */
#define FILE_LABEL_SIZE 64
#define FILE_HOLDER_SLOTS 64    /* readers and permits with a record */
#define FILE_WAITER_SLOTS 64    /* waiters with a record */
#define FILE_NO_SLOT UINT32_MAX /* there are never so many */
#define FILE_HINT_AT 1536

struct file_header {
	char magic[8];
	uint32_t version;
	uint32_t kind;
	char name[256];
	uint64_t sum;
};

struct file_state {
	uint64_t seq;     /* the copy with the higher number counts */
	uint64_t first;   /* the tokens of this writer: first to last */
	uint64_t last;
	uint64_t session; /* the writer's; 0: not written yet */
	uint64_t ticket;  /* ... and its request */
	uint32_t limit;   /* of a semaphore ... */
	uint32_t is_set;  /* ... by an operator */
	char label[FILE_LABEL_SIZE];
	uint64_t sum;
};

struct file_participant {
	uint64_t token; /* 0: a waiter */
	uint64_t session;
	uint64_t ticket;
	uint64_t shared; /* 0: exclusive; else 1, and 2^32 for each permit
			  * beyond the first */
	char label[FILE_LABEL_SIZE];
	uint64_t sum;
};

enum file_found {
	FILE_FRESH,   /* empty */
	FILE_GOOD,
	FILE_DAMAGED, /* ours, but header or both copies are unreadable */
	FILE_FOREIGN, /* not a lock file */
	FILE_OTHER_FORMAT,
	FILE_OTHER    /* another lock's file */
};

/*
 * Read header and state from `fd`.  `state` is all zeroes if no copy is good.
 * `name` NULL: of any lock.  -1 and errno if reading fails.
 */
int dlki_file_load(int fd, enum dlk_kind kind, const char *name,
		   struct file_header *header, struct file_state *state);

/* Read the state alone, of a file found good before.  0: use
 * dlki_file_load(). */
int dlki_file_load_state(int fd, struct file_state *state);

/* Write a new state over the older copy; raises st->seq. */
int dlki_file_store(int fd, struct file_state *st);

/* Write header and state, for fresh and damaged files. */
int dlki_file_format(int fd, enum dlk_kind kind, const char *name,
		     struct file_state *st);

/* Store the slot's record.  Holders' slots come first, then waiters'.  A slot
 * beyond both has no record, and is left out. */
int dlki_file_participant_store(int fd, uint32_t slot,
				struct file_participant *p);
/* Does the slot have a good record? */
int dlki_file_participant_load(int fd, uint32_t slot,
			       struct file_participant *p);

/* Convert permits, 0 being 1, to `shared` of a record, and back. */
static inline uint64_t file_shared(uint32_t permits)
{
	return 1 + ((uint64_t)(permits ? permits - 1 : 0) << 32);
}

static inline uint32_t file_permits(uint64_t shared)
{
	return (uint32_t)(shared >> 32) + 1;
}

/* Read the slot that was freed last; -1 and errno. */
int dlki_file_hint(int fd, uint32_t *slot);
void dlki_file_hint_store(int fd, uint32_t slot);

/* Copy the label, cut between two characters, and padded with zeroes. */
void dlki_file_label(char out[FILE_LABEL_SIZE], const char *label);

/* Return CLOCK_REALTIME in microseconds, at least 1. */
uint64_t dlki_file_time(void);

#endif
