/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite: what every store must do, as cases that know a store
 * only by its URI.
 *
 * A case is a function that runs in a process of its own, with a client, a name
 * and a prefix that no other case has.  The first check that fails ends the
 * process; a case that returns has passed.  What a case makes through the
 * functions below is freed behind it, and then it is checked that the process
 * has no more threads and descriptors than before.
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
	const char *uri; /* of the store, with the case's own prefix */
	const char *dir; /* a directory of the case's own */
	char name[64];   /* of the lock */
	uint32_t caps;
	int64_t ttl_ms;
	int local; /* no other process can use the store */

	dlock_client *client;
	dlock_lock *lock; /* made by use_mutex() and so on */
	enum kind kind;
	uint32_t permits;

	struct census before;
	dlock_client *clients[MOST_CLIENTS];
	dlock_lock *locks[MOST_LOCKS];
	int n_clients, n_locks;
	struct worker *workers;
	struct arena *arena;
	int n_workers; /* ever */
};

/* ---- What a case is about ------------------------------------------------ */

void use_mutex(struct conform *t);
void use_unbound(struct conform *t); /* a mutex, whose holds have no thread */
void use_rwlock(struct conform *t);
void use_semaphore(struct conform *t, uint32_t permits);

/* Another client of the same store.  `params` go into its URI unless that says
 * them already; both may be NULL. */
dlock_client *another_client(struct conform *t, const char *params,
			     const dlock_options *opts);
void close_client(struct conform *t, dlock_client *client);
void forget_client(struct conform *t, dlock_client *client); /* it closes */

/* Another handle of the case's lock; any lock. */
dlock_lock *handle(struct conform *t, dlock_client *client);
dlock_lock *any_lock(struct conform *t, dlock_client *client, enum kind kind,
		     uint32_t permits, const char *name);
/* handle() for asynchronous calls. */
dlock_lock *unbound(struct conform *t, dlock_client *client);

/* A multi-lock, freed behind the case like any other. */
dlock_lock *multi(struct conform *t, dlock_lock *const members[], size_t n);

/* End the case where the store cannot be tested so. */
void needs_other_processes(const struct conform *t);
void needs_break(const struct conform *t);

/* `uri` with more parameters, allocated; those that it has already stay. */
char *uri_with(const char *uri, const char *params);

/* The upgradeable read side of a read-write lock, likewise; the caller frees
 * the second. */
dlock_lock *upgradeable(struct conform *t, dlock_lock *rwlock);
dlock_lock *upgradeable_of(dlock_lock *rwlock);

/* ---- Verbs that must succeed --------------------------------------------- */

dlock_hold *take(dlock_lock *lock);
dlock_hold *take_shared(dlock_lock *lock);
int acquire_several(dlock_lock *l, uint32_t permits, int64_t timeout_ms,
		    dlock_hold **out);
dlock_hold *take_several(dlock_lock *l, uint32_t permits);
void give(dlock_hold *hold);

/* dlock_acquire(), or its shared form.  On a busy machine a store may take
 * longer than a try has: a try that got no answer is made again, but not for
 * ever. */
int ask_for(dlock_lock *lock, int shared, int64_t timeout_ms, dlock_hold **h);

/* dlock_upgrade(), likewise; it must succeed. */
int ask_to_upgrade(dlock_lock *lock, dlock_hold *upgradeable,
		   int64_t timeout_ms, dlock_hold **h);
dlock_hold *upgrade(dlock_lock *lock, dlock_hold *upgradeable);

/* The lock is with others, and `out` stays as it was. */
void refused(dlock_lock *lock);
void refused_shared(dlock_lock *lock);

/* Before the first is_free(). */
void releases_are_as_in(const char *uri);

/* The timeout of a try that finds the lock free: 0, unless a release that has
 * returned may still be on its way, as with release=async. */
int64_t at_once_ms(void);

/* It is free: taken and given back at once. */
void is_free(dlock_lock *lock);

/* The semaphore has `limit` permits, and `held` of them are held. */
void has_free(dlock_lock *lock, uint32_t limit, uint32_t held);
uint32_t held_permits(dlock_lock *lock);
void set_limit(dlock_lock *lock, uint32_t permits);

struct dlock_stats stats_of(dlock_client *client);

/* Wait until `n` waits of the case are parked, in whatever client. */
void await_waiters(struct conform *t, unsigned int n);
/* The same, unless `p` answers before: did it come to that? */
int comes_to_wait(struct conform *t, struct worker *p, unsigned int n);

/* From here on the case's client has a lease as short as can be tested, unless
 * the URI says another; on a busy machine a process may stand still for the
 * better part of a shorter one.  Workers that join with SHORT_LEASE have it,
 * too. */
#define SHORT_LEASE "ttl=1500ms"
void use_short_lease(struct conform *t);

/* How long the store may take to find out that a holder is dead. */
int64_t promised_ms(const struct conform *t);

/* ---- The process of a case ----------------------------------------------- */

/*
 * main() begins with this: the stores of $DLOCK_TEST_BACKENDS are loaded, and
 * where the arguments say that we are a case's process it runs.  The exit code,
 * or -1: go on.
 */
int conform_main(int argc, char *argv[]);

#endif
