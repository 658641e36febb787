/* SPDX-License-Identifier: Apache-2.0 */
/* The holders and waiters of a lock. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

struct seen {
	int holders, waiters, nameless;
	int tokens_of_waiters;
	uint64_t tokens; /* sum of tokens */
};

static void note_participant(const struct dlock_participant *p, void *arg)
{
	struct seen *seen = arg;

	seen->holders += !p->waiting;
	seen->waiters += p->waiting;
	seen->tokens_of_waiters += p->waiting && p->token;
	seen->tokens += p->token;
	CHECK_INT(p->remaining_ms, ==, -1);
	seen->nameless += !*p->label;
}

static struct seen inspect(dlock_lock *l)
{
	struct seen seen = { 0 };

	CHECK_OK(dlock_inspect(l, note_participant, &seen, 1000));
	return seen;
}

/* More permits than the file has records: the first client holds all of them,
 * and the second client waits. */
enum { MANY = 80 };

struct crowd {
	dlock_client *waits;
	dlock_lock *held,
		*wanted; /* handles of the first and the second client */
	dlock_hold *h[MANY];
};

static struct crowd take_all(void)
{
	const char *dir = store_dir();
	struct crowd w;

	w.held = semaphore(store_open(dir, NULL), "x", MANY);
	w.waits = store_open(dir, NULL);
	w.wanted = semaphore(w.waits, "x", MANY);
	for (int i = 0; i < MANY; i++)
		w.h[i] = take(w.held, 0);
	return w;
}

/* The file has no record for the last holders of so many permits. A holder
 * without a record that has waited no longer counts as a waiter. */
CASE(file_inspect, tells_who_has_waited_from_who_waits)
{
	struct crowd w = take_all();
	int i;

	for (i = 0; i < MANY; i++) {
		struct taker t = { .keep = 1 };

		taker_start(&t, w.wanted, FOREVER);
		EVENTUALLY(stats(w.waits).waiters == 1);
		CHECK_OK(dlock_release(w.h[i]));
		CHECK_OK(taker_join(&t));
		CHECK_INT(inspect(w.held).waiters, ==, 0);
		CHECK_OK(dlock_release(t.hold));
		w.h[i] = take(w.held, FOREVER);
	}
	for (i = 0; i < MANY; i++)
		CHECK_OK(dlock_release(w.h[i]));
}

/* Holders without a record leave the waiters' records alone. */
CASE(file_inspect, tells_many_waiters_from_many_holders)
{
	enum { WAITERS = 16 };
	static struct taker t[WAITERS];
	struct crowd w = take_all();
	int i;

	for (i = 0; i < WAITERS; i++) {
		t[i].keep = 1;
		taker_start(&t[i], w.wanted, FOREVER);
		EVENTUALLY(stats(w.waits).waiters == (uint64_t)i + 1);
	}
	for (i = 0; i < WAITERS - 1; i++) {
		CHECK_OK(dlock_release(w.h[MANY - 1 - i]));
		EVENTUALLY(stats(w.waits).waiters ==
			   (uint64_t)(WAITERS - 1 - i));
		CHECK_INT(inspect(w.held).tokens_of_waiters, ==, 0);
	}
	for (i = 0; i <= MANY - WAITERS; i++)
		CHECK_OK(dlock_release(w.h[i]));
	for (i = 0; i < WAITERS; i++) {
		CHECK_OK(taker_join(&t[i]));
		CHECK_OK(dlock_release(t[i].hold));
	}
}

/* An inspection lists all holders of a few of many permits. With more holders
 * than records, an entry without a name stands for the rest. */
CASE(file_inspect, tells_the_few_who_hold_one_of_many)
{
	enum { CLIENTS = 10, PERMITS = 1000 };
	dlock_client *c[CLIENTS];
	dlock_lock *l[CLIENTS];
	dlock_hold *h[CLIENTS], *more[PERMITS - CLIENTS];
	char dir[PATH_MAX];
	int i;

	store_make(dir);
	for (i = 0; i < CLIENTS; i++) {
		c[i] = store_open(dir, "label=holder");
		l[i] = semaphore(c[i], "x", PERMITS);
		h[i] = take(l[i], 0);
		CHECK_INT(inspect(l[0]).holders, ==, i + 1);
	}
	for (i = 0; i < PERMITS / 2; i++)
		more[i] = take(l[0], FOREVER);
	CHECK_INT(inspect(l[0]).holders, >, CLIENTS);
	CHECK_INT(inspect(l[0]).nameless, ==, 1);
	for (i = 0; i < PERMITS / 2; i++)
		CHECK_OK(dlock_release(more[i]));
	CHECK_INT(inspect(l[0]).holders, ==, CLIENTS);
	for (i = 0; i < CLIENTS; i++) {
		CHECK_OK(dlock_release(h[i]));
	}
}

/* The token is exact also when the holder draws from a batch: at once for the
 * holder's client, and for other clients after the holder's next check of the
 * file. */
CASE(file_inspect, tells_the_exact_token)
{
	struct scene *s = scene();
	dlock_client *c = store_open(s->dir, "ttl=300ms");
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = mutex(c, "x"), *m = mutex(d, "x");
	dlock_hold *h;
	int i;

	for (i = 0; i < 3000; i++)
		CHECK_OK(dlock_release(take(l, 0)));
	h = take(l, 0);
	CHECK(inspect(l).tokens == dlock_token(h));
	EVENTUALLY(inspect(m).tokens == dlock_token(h));
	CHECK_OK(dlock_release(h));
	h = take(m, 0);
	CHECK(inspect(l).tokens == dlock_token(h));
	CHECK_OK(dlock_release(h));
}
