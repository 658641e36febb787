/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owner ids: 128 random bits, 32 hex digits, new for each request.
 *
 * The bits come from a generator of the client's, with a key from the kernel.
 * Each refill of the pool replaces the key with the first bytes of the output,
 * so no earlier id can be computed from the memory ("fast key erasure";
 * Bernstein, 2017).  A client is dead in a forked child, so no two processes
 * draw the same id.
 */
#ifndef DLOCK_CORE_OWNER_H
#define DLOCK_CORE_OWNER_H

#include <dlock/backend.h>

#define DLKI_OWNER_SIZE 33 /* with the NUL */

#define DLKI_CHACHA_KEY 32  /* bytes */
#define DLKI_CHACHA_RUN 256 /* bytes of four blocks, computed at once */

/* Needs the client's mu, or that no other thread has the client. */
struct dlki_owners {
	size_t left; /* unused bytes at the end of pool */
	unsigned char key[DLKI_CHACHA_KEY];
	unsigned char pool[DLKI_CHACHA_RUN];
};

/* 0 or ESYSTEM: without randomness there are no owners. */
int dlki_owners_init(struct dlki_owners *o, struct dlk_error *err);
void dlki_owners_destroy(struct dlki_owners *o); /* wipes */

void dlki_owner_new(struct dlki_owners *o, char out[DLKI_OWNER_SIZE]);

/* Random bits for jitter. */
uint64_t dlki_owner_seed(struct dlki_owners *o);

/* The ChaCha20 key stream.  Pure.  After RFC 8439, section 2.3. */

/* Compute the blocks counter to counter + 3 of the key stream. */
void dlki_chacha_run(const unsigned char key[DLKI_CHACHA_KEY],
		     const unsigned char nonce[12], uint32_t counter,
		     unsigned char out[DLKI_CHACHA_RUN]);

#endif
