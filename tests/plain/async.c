/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races of asynchronous calls, for the thread sanitizer above all: calls and
 * threads want the same locks, and are cancelled, woken, lost, passed and kept,
 * while the client closes.
 *
 * plain-async [SECONDS]: the time of each stage, 2 by default.
 */
#include <dlock/async.h>

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "fake.h"
#include "support/race.h"
#include "support/wait.h"

#define THREADS 4
#define LOCKS 3
#define PENDING 64 /* of the stage, about */

#define MUST(good) race_check(good, s->name, #good)

struct stage {
	const char *name, *uri;
	int leased;     /* holds may be lost */
	int closes;     /* callbacks come during a close */
	int by_process; /* on_event as well */
	dlock_client *client;
	dlock_lock *mutex[LOCKS];
	atomic_int stop;
	atomic_int inside[LOCKS];
	atomic_int in_callback, in_event, pending;
	atomic_ulong asked, told, granted, overlaps, wrong, events;
};

/* A call under way. */
struct use {
	struct stage *s;
	int lock;
	atomic_int told;
};

static void wrong(struct stage *s, const char *call, int rc)
{
	race_wrong(&s->wrong, s->name, call, rc);
}

static int may_fail(struct stage *s, int rc)
{
	if (!race_may_end(rc))
		wrong(s, "acquire", rc);
	return rc;
}

/* Counts an overlap with another holder, unless the hold may be lost. */
static void enter(struct stage *s, int i, const dlock_hold *h)
{
	atomic_fetch_add(&s->granted, 1);
	if (atomic_fetch_add(&s->inside[i], 1) != 0 && !s->leased)
		atomic_fetch_add(&s->overlaps, 1);
	if (dlock_check(h) != DLOCK_OK && !s->leased && !s->closes)
		wrong(s, "check", DLOCK_ELOST);
	atomic_fetch_sub(&s->inside[i], 1);
}

static void hear(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	struct stage *s = arg;
	atomic_int *inside = s->by_process ? &s->in_callback : &s->in_event;

	(void)why;
	if (atomic_fetch_add(inside, 1) != 0)
		wrong(s, "two callbacks at once", 0);
	atomic_fetch_add(&s->events, 1);
	if (event == DLOCK_LOST && dlock_check(hold) != DLOCK_ELOST)
		wrong(s, "an event", 0);
	atomic_fetch_sub(inside, 1);
}

static void released(const struct dlock_result *r, void *arg)
{
	struct stage *s = arg;

	if (r->hold || (r->code != DLOCK_OK && r->code != DLOCK_ELOST &&
			r->code != DLOCK_EUNREACHABLE))
		wrong(s, "release", r->code);
	atomic_fetch_sub(&s->pending, 1);
}

static void granted(const struct dlock_result *r, void *arg)
{
	dlock_hold *hold = r->hold;
	int rc = r->code;
	struct use *u = arg;
	struct stage *s = u->s;

	if (atomic_fetch_add(&s->in_callback, 1) != 0)
		wrong(s, "two callbacks at once", 0);
	if (atomic_fetch_add(&u->told, 1) != 0)
		wrong(s, "a call is told of twice", rc);
	atomic_fetch_add(&s->told, 1);
	if (may_fail(s, rc) == DLOCK_OK) {
		enter(s, u->lock, hold);
		if (u->lock == 0) {
			dlock_release(hold);
		} else {
			atomic_fetch_add(&s->pending, 1);
			if (dlock_release_start(hold, released, s) !=
			    DLOCK_OK) {
				atomic_fetch_sub(&s->pending, 1);
				/* The client is closing. */
				dlock_release(hold);
			}
		}
	} else if (hold) {
		wrong(s, "a hold of a call that failed", rc);
	}
	free(u);
	atomic_fetch_sub(&s->in_callback, 1);
	atomic_fetch_sub(&s->pending, 1);
}

static void ask_one(struct stage *s, unsigned int *seed)
{
	struct use *u = calloc(1, sizeof(*u));
	dlock_op op;
	int64_t timeout_ms = race_draw(seed, 4) ? (int64_t)race_draw(seed, 40) :
						  -1;
	int rc;

	if (!u)
		abort();
	u->s = s;
	u->lock = (int)race_draw(seed, LOCKS);
	atomic_fetch_add(&s->pending, 1);
	if (dlock_acquire_start(s->mutex[u->lock], timeout_ms, granted, u,
				&op) < 0) {
		wrong(s, "acquire_start", DLOCK_EINVAL);
		free(u);
		atomic_fetch_sub(&s->pending, 1);
		return;
	}
	atomic_fetch_add(&s->asked, 1);
	if (race_draw(seed, 3) == 0) {
		if (race_draw(seed, 2))
			nap_us(race_draw(seed, 200));
		rc = dlock_cancel_op(s->client, op);
		if (rc != DLOCK_OK && rc != DLOCK_EINVAL)
			wrong(s, "cancel", rc);
	}
}

static void *worker(void *arg)
{
	struct stage *s = arg;
	static atomic_uint number;
	unsigned int seed = atomic_fetch_add(&number, 1);

	while (!atomic_load(&s->stop)) {
		int i = (int)race_draw(&seed, LOCKS);
		dlock_hold *h = NULL;

		if (atomic_load(&s->pending) < PENDING && race_draw(&seed, 4)) {
			ask_one(s, &seed);
		} else if (may_fail(s, dlock_acquire(s->mutex[i],
						     race_draw(&seed, 30),
						     &h)) == 0) {
			enter(s, i, h);
			dlock_release(h);
		}
	}
	return NULL;
}

/* Processes by the descriptor, or by dlock_wait(). */
static void *processor(void *arg)
{
	struct stage *s = arg;
	static atomic_int number;
	int polls = atomic_fetch_add(&number, 1) % 2;

	while (!atomic_load(&s->stop) || atomic_load(&s->pending) > 0) {
		struct pollfd p = { .fd = dlock_client_fd(s->client),
				    .events = POLLIN };
		int rc;

		if (polls) {
			poll(&p, 1, 1);
			rc = dlock_process(s->client, 2);
		} else {
			rc = dlock_wait(s->client, 1);
		}
		if (rc < 0 && rc != DLOCK_EBUSY)
			wrong(s, "process", rc);
	}
	return NULL;
}

static void *meddler(void *arg)
{
	struct stage *s = arg;
	struct fake *fake = fake_store("");
	unsigned int seed = 4711;

	while (!atomic_load(&s->stop)) {
		uint64_t id = fake_last(fake, FAKE_ATTEMPT).id;

		fake_wake(fake, id);
		if (race_draw(&seed, 8) == 0)
			dlock_cancel(s->mutex[race_draw(&seed, LOCKS)]);
		if (race_draw(&seed, 4) == 0)
			fake_want(fake, id);
		if (s->leased)
			race_harm(fake, id, &seed);
		nap_us(300);
	}
	return NULL;
}

static int set(struct stage *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	char name[] = "m0";

	o.on_event = hear;
	o.arg = s;
	if (dlock_open(&s->client, s->uri, &o) < 0)
		return -1;
	for (int i = 0; i < LOCKS; i++) {
		name[1] = (char)('0' + i);
		if (dlock_mutex_new(&s->mutex[i], s->client, name) < 0)
			return -1;
		if (dlock_lock_unbind(s->mutex[i]) < 0)
			return -1;
	}
	return s->by_process ? dlock_events_by_process(s->client) : 0;
}

static void strike(struct stage *s)
{
	for (int i = 0; i < LOCKS; i++)
		dlock_lock_free(s->mutex[i]);
}

static void sum_up(struct stage *s)
{
	struct dlock_stats st = { .size = sizeof(st) };

	MUST(dlock_get_stats(s->client, &st) == DLOCK_OK);
	MUST(st.holds == 0);
	MUST(st.waiters == 0);
	MUST(atomic_load(&s->granted) > 100);
	MUST(atomic_load(&s->asked) > 100);
	MUST(atomic_load(&s->told) == atomic_load(&s->asked));
	MUST(atomic_load(&s->overlaps) == 0);
	MUST(atomic_load(&s->wrong) == 0);
	printf("%s: %lu asked, %lu granted, %lu passed, %lu events\n", s->name,
	       atomic_load(&s->asked), atomic_load(&s->granted),
	       (unsigned long)st.passed, atomic_load(&s->events));
}

/* Runs all threads at once, and closes the client after the last callback. */
static void hammer(struct stage *s)
{
	pthread_t thread[THREADS + 3];
	int n = 0;

	if (set(s) < 0) {
		race_check(0, s->name, dlock_errmsg());
		return;
	}
	for (int i = 0; i < THREADS; i++)
		race_start(&thread[n++], worker, s);
	race_start(&thread[n++], meddler, s);
	for (int i = 0; i < 2; i++)
		race_start(&thread[n++], processor, s);
	nap_ms(race_ms);
	atomic_store(&s->stop, 1);
	for (int i = 0; i < THREADS + 1; i++)
		pthread_join(thread[i], NULL);
	fake_clear(fake_store(""));
	EVENTUALLY(atomic_load(&s->pending) == 0);
	for (int i = THREADS + 1; i < n; i++)
		pthread_join(thread[i], NULL);
	sum_up(s);
	dlock_close(s->client);
	strike(s);
	fake_forget(fake_store(""));
}

static void closed(const struct dlock_result *r, void *arg)
{
	(void)r;
	*(int *)arg = 1;
}

static void close_somehow(struct stage *s, int how)
{
	int over = 0;

	if (how % 3)
		(void)dlock_process(s->client, how % 3);
	if (how % 2 || dlock_close_start(s->client, closed, &over) < 0) {
		dlock_close(s->client);
		return;
	}
	while (!over) {
		if (dlock_wait(s->client, -1) != DLOCK_OK)
			wrong(s, "wait", 0);
	}
}

/* Closes the client while calls begin, wake up and end. */
static void close_under(struct stage *s)
{
	dlk_time until = dlk_now() + race_ms * DLK_MS;
	unsigned int seed = 17;
	int rounds = 0;

	s->closes = 1;
	while (dlk_now() < until) {
		pthread_t thread;

		rounds++;
		atomic_store(&s->stop, 0);
		if (set(s) < 0) {
			race_check(0, s->name, dlock_errmsg());
			return;
		}
		race_start(&thread, meddler, s);
		for (int i = 0; i < 16; i++)
			ask_one(s, &seed);
		nap_us(race_draw(&seed, 500));
		/* The meddler uses the client, so the meddler ends first. */
		atomic_store(&s->stop, 1);
		pthread_join(thread, NULL);
		close_somehow(s, rounds);
		strike(s);
		if (atomic_load(&s->pending) != 0)
			wrong(s, "a call was not told of", 0);
	}
	MUST(rounds > 10);
	MUST(atomic_load(&s->told) == atomic_load(&s->asked));
	MUST(atomic_load(&s->wrong) == 0);
	MUST(atomic_load(&s->overlaps) == 0);
	printf("%s: %d rounds, %lu granted\n", s->name, rounds,
	       atomic_load(&s->granted));
}

int main(int argc, char **argv)
{
	static struct stage stages[] = {
		{ .name = "mem", .uri = "mem:" },
		{ .name = "mem, events by process",
		  .uri = "mem:",
		  .by_process = 1 },
		{ .name = "fake", .uri = "fake:" },
		{ .name = "fake, polled",
		  .uri = "fake:?wake=off&retry_min=1ms&retry_max=3ms" },
		{ .name = "fake, leased",
		  .uri = "fake:?ttl=60ms&check=5ms",
		  .leased = 1 },
		{ .name = "fakewant, kept", .uri = "fakewant:?keep=1h" },
		{ .name = "fakewant, leased",
		  .uri = "fakewant:?ttl=60ms&check=5ms&keep=10ms&passes=3",
		  .leased = 1,
		  .by_process = 1 },
	};
	static struct stage closing = { .name = "closing",
					.uri = "fake:?ttl=5s" };
	static struct stage closing_loop = {
		.name = "closing, events by process",
		.uri = "fakewant:?ttl=5s&keep=2s",
		.by_process = 1,
	};

	if (race_begin(argc, argv) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		hammer(&stages[i]);
	close_under(&closing);
	close_under(&closing_loop);
	return race_end();
}
