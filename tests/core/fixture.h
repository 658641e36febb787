/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a case has, and how it ends.
 *
 *	CASE(lease, that_the_store_has_not_is_lost_at_once)
 *	{
 *		keep_diary();
 *		given_hold("fake:?ttl=900ms");
 *		fake_forget(fake);
 *		EVENTUALLY(diary_count(&diary, DLOCK_LOST) == 1);
 *		REFUSED(dlock_release(hold), DLOCK_ELOST, "no longer has it");
 *	}
 *
 * After its last line what the case was given is freed and closed: that must
 * take 5 s a client at most and leave nothing behind, and no rule of backend.h
 * may have been broken.
 */
#ifndef DLOCK_TESTS_CORE_FIXTURE_H
#define DLOCK_TESTS_CORE_FIXTURE_H

#include "core/support.h"

extern struct fake *fake;     /* the store without a name, empty */
extern dlock_client *client;
extern dlock_lock *lock;      /* "a", of the kind that was given */
extern dlock_hold *hold;      /* for the case to set, if given_hold() has not */
extern dlock_options options; /* of the client; none unless set before */
extern struct diary diary;    /* of the client, if it was told to keep one */

/* The client's events and log lines are to be written into `diary`; or events
 * are to call `fn`, for which `diary` is the argument. */
void keep_diary(void);
void events_call(dlock_event_fn fn);

/* Open the client at `uri` with `options`; and make the lock; and take it. */
void given_client(const char *uri);
void given_mutex(const char *uri);
void given_rwlock(const char *uri);
void given_semaphore(const char *uri, uint32_t permits);
void given_hold(const char *uri); /* of a mutex */

/* Close the client before the case ends; or from a thread, which is to be
 * joined. */
void close_client(void);
void close_client_within(int64_t most_ms);
pthread_t client_closes(void);

/* How many calls of `c` are under way.  One that is seen here waits, or asks
 * the store: it has let go of the client's mutex. */
unsigned int calls_under_way(dlock_client *c);

/* Another client, which is closed when the case ends. */
dlock_client *closed_at_end(dlock_client *c);

/* The ticket of the last attempt; and the loss of its claim. */
uint64_t last_id(void);
void lose_last(void);

/* From now on the library's clock is so much ahead of the machine's.  First
 * called before a client is opened. */
void clock_leaps(int64_t ahead_ms);

/* The .init of each suite; of one that measures time. */
void fixture(void);
void timed_fixture(void);

#endif
