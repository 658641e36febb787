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

#include <dlock/backend.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- Round trips --------------------------------------------------------- */

/*
 * How long a store takes to answer a request, and how long to wait for an
 * answer.  Pure: the caller brings the state, which is zeroed at first.
 *
 * After RFC 6298, TCP's retransmission timer: an eighth of each round trip goes
 * into the smoothed time, a quarter of the distance between the two into the
 * variation, and the wait for a round trip is the smoothed time and four
 * variations.  But an attempt may take several round trips in a row: to
 * connect, to be greeted, to make missing scripts or nodes in the store, and to
 * ask.  So the wait is longer by four smoothed times.
 *
 * A lost answer is not counted, unlike with TCP: here the wait bounds a call of
 * the application, and a store that is away would make all calls longer.  A
 * store that has become more distant is found by the answers to requests with
 * more time.
 */

/* The bounds of the wait. */
#define DLKI_ROUNDTRIP_LEAST_NS (40 * DLK_MS)
#define DLKI_ROUNDTRIP_MOST_NS (1000 * DLK_MS)

struct dlki_roundtrip {
	int64_t smoothed_ns, variation_ns; /* 0: no answer yet */
};

/* Take in an answer, which came after `ns`. */
void dlki_roundtrip_heard(struct dlki_roundtrip *r, int64_t ns);

/* Return how long to wait. */
int64_t dlki_roundtrip_wait_ns(const struct dlki_roundtrip *r);

/* ---- A client's ---------------------------------------------------------- */

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
