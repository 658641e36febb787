/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lock file says: a header that never changes (which lock this is) and
 * a state (the fencing token, who wrote it, a semaphore's limit) in two
 * checksummed slots.  A write goes to the older slot, so a torn one leaves the
 * younger; with both bad the token starts again from the clock.
 *
 *      0  header
 *    512  slot 0
 *   1024  slot 1
 *   1536  hint: the semaphore seat that was given back last
 *   2048  seats: who holds which share, and then who waits, for inspect()
 *
 * Integers are the host's: the file is of no use to another machine.
 */
#ifndef DLOCK_BACKENDS_FILE_STATE_H
#define DLOCK_BACKENDS_FILE_STATE_H

#include <dlock/backend.h>
#include <sys/types.h>

#define FILE_LABEL_SIZE 64
#define FILE_SEATS 64   /* shares whose holders can be told */
#define FILE_BENCH 64   /* waiters who can be told; records after the seats' */
#define FILE_NO_SEAT UINT32_MAX /* there are never so many */
#define FILE_HINT_AT 1536

struct file_header {
	char magic[8];
	uint32_t version;
	uint32_t kind;
	char name[256];
	uint64_t sum;
};

struct file_state {
	uint64_t seq;     /* the slot with the higher one is in force */
	uint64_t first;   /* the tokens of this writer: first to last */
	uint64_t last;
	uint64_t session; /* who wrote; 0: nobody yet */
	uint64_t ticket;  /* ... for which request */
	uint64_t limit;   /* of a semaphore */
	char label[FILE_LABEL_SIZE];
	uint64_t sum;
};

struct file_seat {
	uint64_t token; /* 0: waits */
	uint64_t session;
	uint64_t ticket;
	uint64_t shared;
	char label[FILE_LABEL_SIZE];
	uint64_t sum;
};

enum file_found {
	FILE_FRESH,   /* empty: nothing was ever written */
	FILE_GOOD,
	FILE_DAMAGED, /* ours, and unreadable: header, or both slots */
	FILE_FOREIGN, /* not a lock file, or of a version we do not know */
	FILE_OTHER    /* a lock file, of another lock */
};

/*
 * Read both from `fd`.  `state` is all zeroes where no slot is good.
 * `name` NULL: of whichever lock it is.  -1 and errno if it cannot be read.
 */
int dlki_file_load(int fd, enum dlk_kind kind, const char *name,
		   struct file_header *header, struct file_state *state);

/* The state alone, of a file that was found good before.  0: read it all. */
int dlki_file_load_state(int fd, struct file_state *state);

/* Write a new state over the older slot; raises st->seq. */
int dlki_file_store(int fd, struct file_state *st);

/* Write header and state: for fresh and damaged files. */
int dlki_file_format(int fd, enum dlk_kind kind, const char *name,
		     struct file_state *st);

/* Of a number that has no record: nothing is stored. */
int dlki_file_seat_store(int fd, uint32_t seat, struct file_seat *rec);
/* Is there a good record of this seat? */
int dlki_file_seat_load(int fd, uint32_t seat, struct file_seat *rec);

/* The seat that was given back last; -1 if nobody says. */
int dlki_file_hint(int fd, uint32_t *seat);
void dlki_file_hint_store(int fd, uint32_t seat);

/* Cut at a character's border, and padded with zeroes. */
void dlki_file_label(char out[FILE_LABEL_SIZE], const char *label);

/* CLOCK_REALTIME in microseconds, at least 1. */
uint64_t dlki_file_time(void);

#endif
