/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls of a case: how they end, and a store stuck with a call. */
#ifndef DLOCK_TESTS_CORE_CALLS_H
#define DLOCK_TESTS_CORE_CALLS_H

#include "core/fixture.h"
#include "support/outcome.h"

/* Returns a handle whose holds belong to no thread. */
dlock_lock *unbound(dlock_client *c, const char *name);

/* The call must end with `code`, without a hold, and with `text` in the
 * message.  A call under way is told of the end by the close, behind the case:
 * all outcomes are static. */
void over(struct outcome *o, int code, const char *text);

/* The call must be granted; returns the hold. */
dlock_hold *granted(struct outcome *o);

/* Begins a call for the lock "stuck" of `c`: the async thread is in the store
 * `f` until the gate opens, and has `then` for the answer. */
void stick(struct fake *f, dlock_client *c, struct outcome *o,
	   enum fake_fault then);

/* The clients opened next count events in `events`, and in `early` the events
 * ahead of the callback of `o`. */
extern atomic_int events, early;
void events_follow(struct outcome *o);

#endif
