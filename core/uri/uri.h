/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URIs:
 *     scheme:[//[user[:password]@]host[:port][,host...]][path][?name=value&...]
 *
 * Pure but for a password_file.  Strict: text without a meaning is an error,
 * which names the culprit and, for a misspelt parameter, the nearest name.
 *
 *  - Bytes with a meaning elsewhere are percent-encoded: '@' ':' '/' '?' '#' in
 *    a user or password, '@' in a path behind a host, '&' in a path, '&' and
 *    '=' in a value, '#' and spaces everywhere.  %00, other control characters
 *    and bytes that are not UTF-8 are refused however they are written.
 *  - Host names and ports are ASCII; IPv6 addresses stand in brackets.
 *  - `shown` has only the parts given, in one spelling; parsed again, it says
 *    the same.  It lacks the password, and parameters with "password" in their
 *    name, all but password_file.
 *  - A scheme whose table lists the DLK_TEXT parameter password_file takes a
 *    user and a password; see core/uri/password.h.  Other schemes refuse both.
 *  - No message quotes a user, a password, a host or a path: a wrong delimiter
 *    may turn a password into any of them.
 */
#ifndef DLOCK_CORE_URI_URI_H
#define DLOCK_CORE_URI_URI_H

#include <dlock/backend.h>

#define DLKI_SCHEME_MAX 31
#define DLKI_URI_MAX 4096 /* bytes; EINVAL for more */

/* Copy the scheme of `text`, in lower case.  EINVAL unless the scheme is
 * well-formed, [a-z][a-z0-9+.-]* of at most 31 bytes. */
int dlki_uri_scheme(const char *text, char out[DLKI_SCHEME_MAX + 1],
		    struct dlk_error *err);

/*
 * Parse `text` against the common parameters and `own` (may be NULL).
 * `password` (may be NULL or empty) is used if neither the URI nor its
 * password_file has a password, and ignored by a scheme without users.
 * Messages begin with the scheme, "redis: parameter 'ttl': '3x' has the unknown
 * unit 'x'; ...".  Free with dlki_uri_free(), which wipes the password.
 */
int dlki_uri_parse(struct dlk_uri **out, const char *text,
		   const struct dlk_param *own, const char *password,
		   struct dlk_error *err);
void dlki_uri_free(struct dlk_uri *uri);

/* ---- The middle of a URI: authority.c ------------------------------------ */

/* [user[:password]@]host[:port][,host[:port]...] */

/*
 * Set user, password, hosts and n_hosts of `uri` from `len` > 0 bytes of text.
 * Strings go to `*room`, 2 * len + 2 bytes at most, which is moved behind them;
 * `hosts` has a place more than the text has commas.
 *
 * EINVAL numbers the hosts and quotes no text, which may be a password by
 * mistake.
 */
int dlki_authority_parse(struct dlk_uri *uri, struct dlk_host *hosts,
			 char **room, const char *text, size_t len,
			 struct dlk_error *err);

#endif
