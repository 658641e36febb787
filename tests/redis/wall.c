/* SPDX-License-Identifier: Apache-2.0 */
/* The server's wall clock is set; Redis counts leases by the wall clock. */
#include "support.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <string.h>

TestSuite(redis_wall, .timeout = 120);

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l, *rw, *sem;

static void step_wall(int64_t ms)
{
	CHECK(lab_server_step_wall(server, ms) == 0);
}

/* Behind the case: after a step back, the keys left would live for longer. */
static void set_forward(void *s)
{
	CHECK(lab_server_step_wall(s, 100000) == 0);
}

static void set_up(const char *query)
{
	struct lab_redis_options o = { .wall = true };

	server = server_start(&o);
	at_end(set_forward, server);
	c = client_of(server->port, query, NULL);
	l = mutex(c, "x");
	rw = rwlock(c, "r");
	sem = semaphore(c, "s", 1);
}

static atomic_int stepping;

/* To and fro each few tens of microseconds, also while a script runs. */
static void *step_on_and_on(void *arg)
{
	for (unsigned int i = 0; stepping; i++) {
		step_wall(i & 2048 ? -40000 : 0);
		if (i % 2048 == 0)
			sched_yield();
	}
	return arg;
}

struct asker {
	pthread_t thread;
	dlock_lock *lock;
	int reads;
};

static void is_no_nonsense(int rc)
{
	if ((rc != DLOCK_OK && rc != DLOCK_EBUSY && rc != DLOCK_ELOST &&
	     rc != DLOCK_EUNREACHABLE) ||
	    (rc != DLOCK_OK && strstr(dlock_errmsg(), "ERR")))
		FAIL("%s: %s", dlock_errname(rc), dlock_errmsg());
}

static void *ask_on_and_on(void *arg)
{
	const struct asker *a = arg;

	for (int i = 0; i < 300; i++) {
		dlock_hold *h = NULL, *read = NULL;
		int rc = a->reads && i % 2 ?
				 dlock_acquire_shared(a->lock, i % 5, &h) :
				 dlock_acquire(a->lock, i % 5, &h);

		is_no_nonsense(rc);
		if (rc == DLOCK_OK && a->reads)
			is_no_nonsense(dlock_acquire_shared(a->lock, 0, &read));
		if (rc == DLOCK_OK)
			is_no_nonsense(dlock_release(h));
		if (read)
			is_no_nonsense(dlock_release(read));
	}
	return NULL;
}

/* Each answer makes sense meanwhile, though no hold is safe.  With the clock
 * right again, the locks work as before. */
CASE(redis_wall, set_again_and_again_is_no_error)
{
	enum { ASKERS = 4, EACH = 3 };
	struct asker a[ASKERS * EACH];
	pthread_t stepper;

	set_up("ttl=500ms&ask=500ms");
	stepping = 1;
	CHECK(pthread_create(&stepper, NULL, step_on_and_on, NULL) == 0);
	for (int i = 0; i < ASKERS * EACH; i++) {
		dlock_lock *const all[EACH] = { l, rw, sem };

		a[i].lock = all[i % EACH];
		a[i].reads = a[i].lock == rw;
		CHECK(pthread_create(&a[i].thread, NULL, ask_on_and_on,
				     &a[i]) == 0);
	}
	for (int i = 0; i < ASKERS * EACH; i++)
		pthread_join(a[i].thread, NULL);
	stepping = 0;
	pthread_join(stepper, NULL);
	/* Each key has an expiry. */
	CHECK(strcmp(server_do(server,
			       "EVAL \"local n = 0 for _, k in ipairs("
			       "redis.call('KEYS', '*')) do if redis.call("
			       "'PTTL', k) == -1 then n = n + 1 end end "
			       "return n\" 0"),
		     "0") == 0);
	step_wall(100000);
	give(take(l, patience_ms()));
	give(take(rw, patience_ms()));
	give(take(sem, patience_ms()));
}

static void set_back_under_an_attempt(dlock_lock *mine, dlock_lock *theirs,
				      int shared, int64_t n)
{
	dlock_hold *h = NULL, *none = NULL;

	CHECK(lab_server_step_wall_at(server, n, -40000) == 0);
	CHECK_OK(shared ? dlock_acquire_shared(mine, 0, &h) :
			  dlock_acquire(mine, 0, &h));
	step_wall(-40000);
	CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_check(h));
	give(h);
	step_wall(0);
}

/* The holder's key is gone, so the next client's attempt passes the lock on to
 * the waiter. */
static void set_back_under_a_grant(dlock_lock *mine, dlock_lock *theirs,
				   int64_t n)
{
	struct taker t = { 0 };
	dlock_hold *h = take(theirs, 0), *none = NULL;

	taker_queue(&t, c, mine, FOREVER);
	server_do(server, "DEL dlock:{lnx}");
	CHECK(lab_server_step_wall_at(server, n, -40000) == 0);
	dlock_release(h);
	CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EBUSY);
	step_wall(-40000);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EBUSY);
	CHECK_OK(dlock_check(t.hold));
	let_go(&t);
	step_wall(0);
}

/* Redis judges expiries by the time at which a script began, and sets expiries
 * by the clock. */
CASE(redis_wall, set_back_while_a_script_grants)
{
	dlock_client *other;
	dlock_lock *theirs, *wr, *ts;

	set_up("ttl=30s&ask=1s");
	other = client_of(server->port, "ttl=30s&ask=1s", NULL);
	theirs = mutex(other, "x");
	wr = rwlock(other, "r");
	ts = semaphore(other, "s", 1);
	for (int64_t n = 1; n <= 60; n++) {
		set_back_under_an_attempt(l, theirs, 0, n);
		set_back_under_an_attempt(rw, wr, 1, n);
		set_back_under_an_attempt(sem, ts, 0, n);
		set_back_under_a_grant(l, theirs, n);
	}
}
