/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URIs:
 *     scheme:[//[user[:password]@]host[:port][,host...]][path][?name=value&...]
 *
 * Pure but for a password_file.  Strict: what is not understood is an error
 * that names the culprit and, for a misspelt parameter, the nearest one.
 *
 *  - Bytes with a meaning elsewhere are percent-encoded: '@' ':' '/' '?' '#' in
 *    a user or password, '@' in a path behind a host, '&' in a path, '&' and
 *    '=' in a value, '#' and spaces everywhere.  %00, other control characters
 *    and what is not UTF-8 are refused however they are written.
 *  - Host names and ports are ASCII; IPv6 addresses stand in brackets.
 *  - `shown` has only what was given, in one spelling; parsed again, it says
 *    the same.  It lacks the password, and parameters with "password" in their
 *    name, all but password_file.
 *  - A scheme whose table lists the DLK_TEXT parameter password_file takes a
 *    user and a password; see core/uri/password.h.  Any other refuses both.
 *  - No message quotes a user, a password, a host or a path: where a delimiter
 *    is wrong, one may be taken for the other.
 */
#ifndef DLOCK_CORE_URI_URI_H
#define DLOCK_CORE_URI_URI_H

#include <dlock/backend.h>

#define DLKI_SCHEME_MAX 31
#define DLKI_URI_MAX 4096 /* bytes; a longer one is EINVAL */

/* Copy the lower-cased scheme of `text`; EINVAL if it has none that is
 * well-formed, [a-z][a-z0-9+.-]* of at most 31 bytes. */
int dlki_uri_scheme(const char *text, char out[DLKI_SCHEME_MAX + 1],
		    struct dlk_error *err);

/*
 * Parse `text` against the common parameters and `own` (may be NULL).
 * `password` (may be NULL or empty) is used where neither the URI nor its
 * password_file gives one, and ignored by a scheme that takes none.  Messages
 * begin with the scheme, "redis: parameter 'ttl': '30' has no unit; ...".
 * Free with dlki_uri_free(), which wipes the password.
 */
int dlki_uri_parse(struct dlk_uri **out, const char *text,
		   const struct dlk_param *own, const char *password,
		   struct dlk_error *err);
void dlki_uri_free(struct dlk_uri *uri);

#endif
