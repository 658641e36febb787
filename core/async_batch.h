/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of many asynchronous calls in one round trip.  Before the async
 * thread runs the next call that is READY, the thread prepares the calls behind
 * it, too: the store gets their tickets, and sends the requests together with
 * the first.  Then each call runs in turn, and finds the answer.
 *
 * The thread prepares first attempts, and last releases, but no part of a call
 * for a multi-lock.  A call that is prepared stays READY, and can be overdue.
 */
#ifndef DLOCK_CORE_ASYNC_BATCH_H
#define DLOCK_CORE_ASYNC_BATCH_H

#include "core/async.h"

/* All need the client's mu. */

/* The wait of an acquire begins, later than the program asked. */
void dlki_async_begin_wait(struct dlki_async *call);

/* Prepare calls, if the next one is not prepared.  For the async thread;
 * releases mu meanwhile. */
void dlki_async_prepare(struct dlock_client *client);

#endif
