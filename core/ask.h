/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's `ask`: how much longer than the caller's timeout a request may
 * take.  Either the URI gives the time, or the time follows the store's round
 * trips, which the backend tells by dlk_answered().
 *
 * `ask` only bounds the wait for an answer.  No promise rests on `ask`: a lease
 * counts from before the request was sent, however late the answer comes.
 */
#ifndef DLOCK_CORE_ASK_H
#define DLOCK_CORE_ASK_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/roundtrip.h"

struct dlki_ask {
	int given;          /* by the URI: never changes */
	_Atomic int64_t ms;
	pthread_mutex_t mu; /* protects roundtrip; a leaf */
	struct dlki_roundtrip roundtrip;
};

void dlki_ask_init(struct dlki_ask *ask, const struct dlk_uri *uri);
void dlki_ask_destroy(struct dlki_ask *ask);

int64_t dlki_ask_ms(const struct dlki_ask *ask);

#endif
