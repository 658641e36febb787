/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing a client in two steps: the work that may wait for the store, and the
 * callbacks that are left.
 */
#ifndef DLOCK_CORE_CLOSE_H
#define DLOCK_CORE_CLOSE_H

#include "core/client.h"

/* End all calls, give back all claims, and leave the store.  The client, with a
 * close that is BEGUN, has callbacks left at most. */
void dlki_close_run(struct dlock_client *client);

/* Finish a client that ENDS: call the callbacks, and free the client.  The
 * caller alone is in dlock_process(), or in dlock_wait(). */
void dlki_close_finish(struct dlock_client *client);

/* In dlock_process() of a client without threads: open or close the client, if
 * dlock_open_start() or dlock_close_start() has begun that.  Waits for the
 * store. */
void dlki_open_or_close(struct dlock_client *client);

#endif
