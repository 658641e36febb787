/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of locks and the keys that stores see.
 *
 * A key is kind letter (l, s), form letter, body; [0-9a-z], up to 64 bytes:
 *   n  names of 1 to 62 bytes of [0-9a-z] only: the name itself
 *   e  names of 1 to 38 bytes: base32 (RFC 4648, lower case, no padding)
 *   h  longer ones: base32 of the name's SHA-256
 * Forms n and e are injective; h is, as far as SHA-256 is.
 */
#ifndef DLOCK_CORE_NAME_H
#define DLOCK_CORE_NAME_H

#include <dlock/backend.h>

#define DLKI_NAME_MAX 255
#define DLKI_KEY_SIZE 65 /* with the NUL */

/* 1 to 255 bytes of valid UTF-8 (shortest forms, no surrogates) without
 * control characters (C0, DEL, C1)?  Else EINVAL; says which byte. */
int dlki_name_check(const char *name, struct dlk_error *err);

/* `name` was checked. */
void dlki_name_key(enum dlk_kind kind, const char *name,
		   char out[DLKI_KEY_SIZE]);

/* The body of dlock_name_make(): a legal name out of any bytes. */
int dlki_name_make(char out[DLOCK_NAME_SIZE], const void *bytes, size_t len,
		   struct dlk_error *err);

#endif
