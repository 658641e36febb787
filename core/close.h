/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing a client in two steps: what may wait for the store, and the callbacks
 * that are left.
 */
#ifndef DLOCK_CORE_CLOSE_H
#define DLOCK_CORE_CLOSE_H

#include "core/client.h"

/* End all calls, give back what the store has, and leave it.  The client, whose
 * close is BEGUN, has callbacks left at most. */
void dlki_close_run(struct dlock_client *client);

/* The rest of one that ENDS: call them, and free the client.  The caller alone
 * is in dlock_process(). */
void dlki_close_finish(struct dlock_client *client);

#endif
