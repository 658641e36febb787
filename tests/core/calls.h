/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls: how a call ends, and a store stuck with a call. */
#ifndef DLOCK_TESTS_CORE_CALLS_H
#define DLOCK_TESTS_CORE_CALLS_H

#include "core/fixture.h"
#include "support/outcome.h"

/* Opens the client at `uri`, whose callbacks the functions of outcome.h call;
 * and makes `lock` a mutex of no thread. */
void given_looped(const char *uri);
void given_loop(const char *uri);

/* Waits for a call that must end with `code`, without a hold, and with `text`
 * in the message. A call still under way ends with the close, after the case:
 * all outcomes are static. */
void over(struct outcome *o, int code, const char *text);

/* Begins a call for the lock "stuck" of `c`. The async job stays in the
 * store `f` until the gate opens, and then the store answers `then`. */
void stick(struct fake *f, dlock_client *c, struct outcome *o,
	   enum fake_fault then);

/* Has the clients opened next count events in `events`, and in `early` those
 * before the callback of `o`. */
extern atomic_int events, early;
void events_follow(struct outcome *o);

#endif
