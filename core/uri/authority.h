/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The middle of a URI: [user[:password]@]host[:port][,host[:port]...]
 */
#ifndef DLOCK_CORE_URI_AUTHORITY_H
#define DLOCK_CORE_URI_AUTHORITY_H

#include <dlock/backend.h>

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
