/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The things of a case, and the end of a case.
 *
 *	CASE(lease, that_the_store_has_not_is_lost_at_once)
 *	{
 *		keep_diary();
 *		given_hold("fake:?ttl=900ms");
 *		fake_forget(fake);
 *		EVENTUALLY(diary.losses == 1);
 *		REFUSED(dlock_release(hold), DLOCK_ELOST, "no longer has it");
 *	}
 *
 * After the last line, the fixture frees the locks and closes the clients. A
 * close must take at most 5 s and leave neither claims nor clean-ups, and no
 * call may have broken a rule of backend.h.
 */
#ifndef DLOCK_TESTS_CORE_FIXTURE_H
#define DLOCK_TESTS_CORE_FIXTURE_H

#include "core/support.h"

extern struct fake *fake;     /* the store without a name, empty */
extern dlock_client *client;
extern dlock_lock *lock;      /* "a", of the kind that was given */
extern dlock_hold *hold;      /* set by given_hold(), or by the case */
extern dlock_options options; /* of the client, set before */
extern struct diary diary;    /* of the client, after keep_diary() */

/* Has the client write events and log lines into `diary`; or has events call
 * `fn`, with `diary` for the argument. */
void keep_diary(void);
void events_call(dlock_event_fn fn);

/* Counts the events of a kind in `diary`. */
int told_of(enum dlock_event event);

/* An event function that blocks: writes the event into `diary`, counts
 * `inside` up and waits for `go`. */
extern atomic_int inside, go;
void hold_up(dlock_hold *h, enum dlock_event event, const char *why, void *d);

/* Opens the client at `uri` with `options`; and makes the lock; and takes the
 * lock, or has another session hold the lock. */
void given_client(const char *uri);
void given_mutex(const char *uri);
void given_busy_mutex(const char *uri);
void given_unbound(const char *uri); /* a mutex of no thread */
void given_rwlock(const char *uri);
void given_semaphore(const char *uri, uint32_t permits);
void given_hold(const char *uri); /* of a mutex */

/* Returns a handle whose holds belong to no thread. */
dlock_lock *unbound(dlock_client *c, const char *name);

/* Starts a taker of `lock`, and returns when the taker waits for the lock. */
void taker_waits(struct taker *t, int64_t timeout_ms);

/* Closes the client before the end of the case; or starts a thread that does,
 * for the case to join. */
void close_client(void);
void close_client_within(int64_t most_ms);
pthread_t client_closes(void);

/* Counts the calls of `c` under way. A call counted here waits, or asks the
 * store, and has released the client's mutex. */
unsigned int calls_under_way(dlock_client *c);

/* Has the end of the case close `c`, and returns `c`. */
dlock_client *closed_at_end(dlock_client *c);

/* Returns the ticket of the last attempt; loses the claim of that attempt. */
uint64_t last_id(void);
void lose_last(void);

/* Sets the library's clock ahead of the machine's clock. The first call comes
 * before a client is opened. */
void clock_leaps(int64_t ahead_ms);

/* The .init of a suite, and of a suite with bounds on time. */
void fixture(void);
void timed_fixture(void);

#endif
