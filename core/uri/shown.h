/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed URI put together again, for people and logs.  Both functions append
 * to `*to` and move it to the end; neither adds a NUL.  They need three times
 * the room of the URI, and two bytes.
 */
#ifndef DLOCK_CORE_URI_SHOWN_H
#define DLOCK_CORE_URI_SHOWN_H

#include <dlock/backend.h>

/* Show scheme, user, hosts and path; never the password. */
void dlki_show_place(char **to, const struct dlk_uri *uri);

/* Show a parameter, with `before`, '?' or '&', in front. */
void dlki_show_param(char **to, char before, const char *name,
		     const char *value);

#endif
