/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the store away?  Logged when the store goes and comes back, and not at
 * each request in between.
 */
#ifndef DLOCK_CORE_AWAY_H
#define DLOCK_CORE_AWAY_H

#include "core/client.h"

/* Without mu: a request, for `lock` or NULL, came to `err`.  0: not because the
 * store is away, and no line was logged. */
int dlki_away_failed(struct dlock_client *client, const char *lock,
		     const struct dlk_error *err);

/* Without mu: the store answered. */
void dlki_away_answered(struct dlock_client *client);

#endif
