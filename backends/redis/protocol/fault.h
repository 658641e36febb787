/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server's error replies mean.  Pure.
 *
 * An error that may pass is EUNREACHABLE, which the core retries.  One that
 * will not pass is final.  None is ever BUSY.
 */
#ifndef DLOCK_REDIS_FAULT_H
#define DLOCK_REDIS_FAULT_H

#include <dlock/backend.h>
#include <stddef.h>

/* Fill in err for an error reply of the server `who` and return its code;
 * *keep says whether the connection can be used again. */
int dlki_redis_fault(const char *text, size_t len, const char *who, int *keep,
		     struct dlk_error *err);

/* Does the error have this code, "NOSCRIPT"?  A script may have passed it on,
 * too. */
int dlki_redis_fault_is(const char *text, const char *code);

#endif
