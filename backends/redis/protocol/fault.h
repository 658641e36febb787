/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's error replies.  Pure.
 *
 * An error that may pass is EUNREACHABLE, which the core retries.  Any other
 * error is final.  No error is ever BUSY.
 */
#ifndef DLOCK_REDIS_FAULT_H
#define DLOCK_REDIS_FAULT_H

#include <dlock/backend.h>
#include <stddef.h>

/* Fill in err for an error reply of the server `who` and return the code; *keep
 * says whether the connection can be used again. */
int dlki_redis_fault(const char *text, size_t len, const char *who, int *keep,
		     struct dlk_error *err);

/* Does the error have this code, such as "NOSCRIPT"?  A script may have passed
 * the error on. */
int dlki_redis_fault_is(const char *text, const char *code);

#endif
