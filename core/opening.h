/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the store: again and again until it answers, or the URI's `connect`
 * time is over.  A starting server refuses connections for a moment.
 */
#ifndef DLOCK_CORE_OPENING_H
#define DLOCK_CORE_OPENING_H

#include "core/client.h"

/* Make a client, not yet open; no I/O. */
int dlki_client_make(struct dlock_client **out, const char *uri,
		     const dlock_options *opts, struct dlk_error *err);

/* Open the client, or leave it as it was.  ECANCELED if another thread closes
 * the client meanwhile. */
int dlki_client_connect(struct dlock_client *client, struct dlk_error *err);

/* Have the backend open the client's session; `once`: ask only once.  After a
 * failure the backend has freed all it made. */
int dlki_opening(struct dlock_client *client, int once, struct dlk_error *err);

#endif
