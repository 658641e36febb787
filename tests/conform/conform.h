/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite: cases that every store must pass. A case knows the
 * store only by the URI.
 *
 * Each case runs in a separate process, with a client, a name and a prefix that
 * no other case has. The first failed check ends the process; a case that
 * returns has passed. The functions below free their objects when the case
 * ends. Then the process must have as many threads and descriptors as before.
 */
#ifndef DLOCK_TESTS_CONFORM_H
#define DLOCK_TESTS_CONFORM_H

#include <dlock/dlock.h>

#include "conform/face.h"

#include "support/census.h"
#include "support/check.h"
#include "support/wait.h"

enum kind { MUTEX, RWLOCK, SEMAPHORE };

enum { MOST_CLIENTS = 64, MOST_LOCKS = 512 };

struct conform {
	const char *uri; /* with a prefix of this case alone */
	const char *dir; /* for this case alone */
	char name[64];   /* of the lock */
	uint32_t caps;
	int64_t ttl_ms;
	int local; /* the store is inside this process */

	dlock_client *client;
	dlock_lock *lock; /* made by use_mutex() and the like */
	enum kind kind;
	uint32_t permits;

	struct census before;
	dlock_client *clients[MOST_CLIENTS];
	dlock_lock *locks[MOST_LOCKS];
	int n_clients, n_locks;
	struct worker *workers;
	struct arena *arena;
	int n_workers; /* joined so far */
};

/* ---- The objects of a case ----------------------------------------------- */

void use_mutex(struct conform *t);
void use_unbound(struct conform *t); /* a mutex; holds belong to no thread */
void use_rwlock(struct conform *t);
void use_semaphore(struct conform *t, uint32_t permits);

/* Open another client of the store. `params` extend the URI, but replace no
 * parameter of the URI. Both may be NULL. */
dlock_client *another_client(struct conform *t, const char *params,
			     const dlock_options *opts);
/* The same, without threads. */
dlock_client *no_threads_client(struct conform *t, const char *params);
void close_client(struct conform *t, dlock_client *client);
/* Forget a client that the case closes. */
void forget_client(struct conform *t, dlock_client *client);

/* Make another handle of the case's lock, or a handle of any lock. */
dlock_lock *handle(struct conform *t, dlock_client *client);
dlock_lock *any_lock(struct conform *t, dlock_client *client, enum kind kind,
		     uint32_t permits, const char *name);
/* Make a handle for asynchronous calls. */
dlock_lock *unbound(struct conform *t, dlock_client *client);

/* Make a multi-lock, freed when the case ends. */
dlock_lock *multi(struct conform *t, dlock_lock *const members[], size_t n);

/* Skip the case if the store lacks the feature. */
void needs_other_processes(const struct conform *t);
void needs_break(const struct conform *t);

/* Return `uri` with more parameters, allocated. Parameters of `uri` stay. */
char *uri_with(const char *uri, const char *params);

/* Make the upgradeable read side of a read-write lock. The caller frees the
 * result of upgradeable_of(). */
dlock_lock *upgradeable(struct conform *t, dlock_lock *rwlock);
dlock_lock *upgradeable_of(dlock_lock *rwlock);

/* ---- Verbs that must succeed --------------------------------------------- */

dlock_hold *take(dlock_lock *lock);
dlock_hold *take_shared(dlock_lock *lock);
int acquire_several(dlock_lock *l, uint32_t permits, int64_t timeout_ms,
		    dlock_hold **out);
dlock_hold *take_several(dlock_lock *l, uint32_t permits);
void give(dlock_hold *hold);

/* Acquire, on the read side if `shared`. Repeat an unanswered try a few times:
 * on a busy machine a store may take longer than a try has. */
int ask_for(dlock_lock *lock, int shared, int64_t timeout_ms, dlock_hold **h);

/* dlock_upgrade(), likewise. upgrade() must succeed. */
int ask_to_upgrade(dlock_lock *lock, dlock_hold *upgradeable,
		   int64_t timeout_ms, dlock_hold **h);
dlock_hold *upgrade(dlock_lock *lock, dlock_hold *upgradeable);

/* A try is refused and leaves `out` alone. */
void refused(dlock_lock *lock);
void refused_shared(dlock_lock *lock);

/* Call before the first is_free(). */
void releases_are_as_in(const char *uri);

/* Return the timeout of a try on a free lock: 0, unless releases return early,
 * as with release=async. */
int64_t at_once_ms(void);

/* Acquire and release at once. */
void is_free(dlock_lock *lock);

/* The semaphore has `limit` permits, `held` of them held. */
void has_free(dlock_lock *lock, uint32_t limit, uint32_t held);
uint32_t held_permits(dlock_lock *lock);
void set_limit(dlock_lock *lock, uint32_t permits);

struct dlock_stats stats_of(dlock_client *client);

/* Wait until `n` waits of the case are parked, over all clients. */
void await_waiters(struct conform *t, unsigned int n);
/* The same, but return 0 if `p` replies before. */
int comes_to_wait(struct conform *t, struct worker *p, unsigned int n);

/* Replace the case's client by a client with the shortest lease that a test can
 * rely on, unless the URI sets a lease. On a busy machine a process may stand
 * still for most of a shorter lease. Workers that join with SHORT_LEASE have
 * the same lease. */
#define SHORT_LEASE "ttl=1500ms"
void use_short_lease(struct conform *t);

/* Return how long the store may take to free a dead holder's lock. */
int64_t promised_ms(const struct conform *t);

/* ---- The process of a case ----------------------------------------------- */

/*
 * Begin main() with this call. Load the stores of $DLOCK_TEST_BACKENDS. If the
 * arguments name a case or a worker, run the case or worker and return the exit
 * code; else return -1.
 */
int conform_main(int argc, char *argv[]);

#endif
