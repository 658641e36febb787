/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percent-encoding (RFC 3986), with one more rule: decoded bytes must be text
 * by core/base/utf8.h, so that %00 and %0d%0a get nowhere.
 */
#ifndef DLOCK_CORE_URI_ESCAPE_H
#define DLOCK_CORE_URI_ESCAPE_H

#include <dlock/backend.h>

/* Decode `len` bytes to `*room`, end them with a NUL, and move `*room` behind
 * it: len + 1 bytes are enough.  The message of an EINVAL names `what`, and
 * quotes no byte. */
int dlki_unescape(char **room, const char *text, size_t len, const char *what,
		  struct dlk_error *err);

/* Encode all but letters, digits, "-._~" and the bytes in `keep` to `*to`, and
 * move `*to` to the end: 3 bytes for each are enough.  Adds no NUL. */
void dlki_escape(char **to, const char *text, const char *keep);

#endif
