/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the store: again and again until it answers, or the URI's `connect`
 * time is over.  A server that is being started, or restarted, refuses
 * connections for a moment.
 */
#ifndef DLOCK_CORE_OPENING_H
#define DLOCK_CORE_OPENING_H

#include "core/client.h"

/* Have the backend open the client's session; `once`: ask only once.  After a
 * failure the backend has left nothing behind. */
int dlki_opening(struct dlock_client *client, int once, struct dlk_error *err);

#endif
