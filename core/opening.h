/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the store: again and again until it answers, or the URI's `connect`
 * time is over.  A server that is being started, or restarted, refuses
 * connections for a moment.
 */
#ifndef DLOCK_CORE_OPENING_H
#define DLOCK_CORE_OPENING_H

#include "core/client.h"

/* Make a client that is not open yet; no I/O. */
int dlki_client_make(struct dlock_client **out, const char *uri,
		     const dlock_options *opts, struct dlk_error *err);

/* Open it, or leave it as it was.  ECANCELED if it is closed meanwhile. */
int dlki_client_connect(struct dlock_client *client, struct dlk_error *err);

/* Have the backend open the client's session; `once`: ask only once.  After a
 * failure the backend has left nothing behind. */
int dlki_opening(struct dlock_client *client, int once, struct dlk_error *err);

#endif
