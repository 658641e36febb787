/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owner ids: 128 bits from the kernel, 32 hex digits, one per request.
 *
 * Random bytes are fetched many at a time.  The pool belongs to a client, and a
 * client is dead in a forked child, so that no two processes draw the same.
 */
#ifndef DLOCK_CORE_OWNER_H
#define DLOCK_CORE_OWNER_H

#include <dlock/backend.h>

#define DLKI_OWNER_SIZE 33 /* with the NUL */

struct dlki_owners {
	pthread_mutex_t mu; /* protects the rest */
	size_t left;        /* unused bytes at the end of pool */
	unsigned char pool[1024];
};

/* 0 or ESYSTEM: without randomness there are no owners. */
int dlki_owners_init(struct dlki_owners *o, struct dlk_error *err);
void dlki_owners_destroy(struct dlki_owners *o); /* wipes */

int dlki_owner_new(struct dlki_owners *o, char out[DLKI_OWNER_SIZE],
		   struct dlk_error *err);

/* Random bits for jitter. */
uint64_t dlki_owner_seed(struct dlki_owners *o);

#endif
