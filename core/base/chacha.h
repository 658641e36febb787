/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ChaCha20 key stream.  Pure.  After RFC 8439, section 2.3.
 */
#ifndef DLOCK_CORE_BASE_CHACHA_H
#define DLOCK_CORE_BASE_CHACHA_H

#include <stddef.h>
#include <stdint.h>

#define DLKI_CHACHA_KEY 32  /* bytes */
#define DLKI_CHACHA_RUN 256 /* bytes of four blocks, computed at once */

/* Compute the blocks counter to counter + 3 of the key stream. */
void dlki_chacha_run(const unsigned char key[DLKI_CHACHA_KEY],
		     const unsigned char nonce[12], uint32_t counter,
		     unsigned char out[DLKI_CHACHA_RUN]);

#endif
