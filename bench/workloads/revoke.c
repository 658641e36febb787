/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a holder is told of dlock_revoke(): a single holder, and a thousand
 * asked at once. */
#include "bench/store.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLES 4000
#define LEAST 20
#define PATIENCE_MS 60000
#define SETTLE (BENCH_MS / 2)

struct holder {
	dlock_lock *lock;  /* of the holders' client */
	dlock_lock *asked; /* of the asking client */
	dlock_hold *hold;
	int64_t asked_at;
	_Atomic int64_t told_at;
};

struct crowd {
	dlock_client *holds;
	dlock_client *asks;
	struct holder *holder;
	unsigned int n;
	sem_t told;
};

/* ---- The holders --------------------------------------------------------- */

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct crowd *p = arg;
	int64_t now = bench_now();

	if (event == DLOCK_LOST)
		bench_fail("a hold was lost: %s", why);
	for (unsigned int i = 0; i < p->n && event == DLOCK_WANTED; i++) {
		if (p->holder[i].hold != hold)
			continue;
		atomic_store(&p->holder[i].told_at, now);
		sem_post(&p->told);
		return;
	}
}

static void open_crowd(struct crowd *p, const struct bench_store *s,
		       unsigned int n)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	*p = (struct crowd){ .n = n };
	sem_init(&p->told, 0, 0);
	p->holder = bench_alloc(n, sizeof(*p->holder));
	o.on_event = on_event;
	o.arg = p;
	bench_check(dlock_open(&p->holds, s->uri, &o), "dlock_open");
	p->asks = store_client(s);
}

static void make_mutexes(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		char *name = store_text("bench/%u", i);

		bench_check(dlock_mutex_new(&p->holder[i].lock, p->holds, name),
			    "dlock_mutex_new");
		bench_check(dlock_mutex_new(&p->holder[i].asked, p->asks, name),
			    "dlock_mutex_new");
		free(name);
	}
}

static void make_semaphore(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		bench_check(dlock_semaphore_new(&p->holder[i].lock, p->holds,
						"bench/permits", p->n),
			    "dlock_semaphore_new");
	bench_check(dlock_semaphore_new(&p->holder[0].asked, p->asks,
					"bench/permits", p->n),
		    "dlock_semaphore_new");
}

static void close_crowd(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		dlock_lock_free(p->holder[i].lock);
		dlock_lock_free(p->holder[i].asked);
	}
	dlock_close(p->asks);
	dlock_close(p->holds);
	free(p->holder);
	sem_destroy(&p->told);
}

static void hold_all(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		struct holder *h = &p->holder[i];

		bench_check(dlock_acquire(h->lock, PATIENCE_MS, &h->hold),
			    "dlock_acquire");
		bench_check(dlock_revocable(h->hold), "dlock_revocable");
	}
}

/* Sleep until all are told. */
static void await_all(struct crowd *p)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_MS / 1000;
	for (unsigned int i = 0; i < p->n; i++)
		while (sem_timedwait(&p->told, &end) != 0)
			if (errno != EINTR)
				bench_fail("%u of %u holders are not told",
					   p->n - i, p->n);
}

static void release_all(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++)
		bench_check(dlock_release(p->holder[i].hold), "dlock_release");
}

static int64_t last_told(const struct crowd *p)
{
	int64_t last = 0;

	for (unsigned int i = 0; i < p->n; i++)
		if (p->holder[i].told_at > last)
			last = p->holder[i].told_at;
	return last;
}

/* From the first call until the last holder is told. */
static double revoke_all(struct crowd *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		p->holder[i].asked_at = bench_now();
		bench_check(dlock_revoke(p->holder[i].asked, PATIENCE_MS),
			    "dlock_revoke");
	}
	await_all(p);
	return (double)(last_told(p) - p->holder[0].asked_at);
}

static double time_of(const struct holder *h)
{
	return (double)(h->told_at - h->asked_at);
}

/* ---- A single holder ----------------------------------------------------- */

/* A store without WANTED tells at a renewal: ask at any time between two. */
static int64_t draw_rest(const struct crowd *p)
{
	static unsigned int drawn = 1;
	int64_t ttl = dlock_ttl_ms(p->asks) * BENCH_MS;

	if (dlock_caps(p->asks) & DLOCK_CAP_WANTED)
		return SETTLE;
	drawn = drawn * 1103515245U + 12345U;
	return (int64_t)(drawn >> 16 & 1023) * (ttl / 3) / 1024;
}

static double revoke_once(struct crowd *p)
{
	hold_all(p);
	bench_sleep(draw_rest(p));
	revoke_all(p);
	release_all(p);
	return time_of(&p->holder[0]);
}

/* The floor is a hand-off between the same two clients; where the store tells
 * at a renewal, the time between two renewals. */
static double floor_once(struct bench_lock *holder, struct bench_lock *other)
{
	if (dlock_caps(other->client) & DLOCK_CAP_WANTED)
		return bench_hand_off(holder, other);
	return (double)(dlock_ttl_ms(other->client) * BENCH_MS) / 3;
}

static void measure_told(struct bench_store *s, const struct bench_case *c)
{
	int64_t until = bench_now() + (int64_t)(run->seconds * 1e9);
	struct bench_turns turns = bench_turns(SAMPLES, SAMPLES);
	struct bench_result res = BENCH_RESULT;
	struct bench_lock *holder = bench_lock_open(&lock_dlock, s);
	struct bench_lock *other = bench_lock_open(&lock_dlock, s);
	struct crowd p;

	open_crowd(&p, s, 1);
	make_mutexes(&p);
	floor_once(holder, other);
	revoke_once(&p);
	for (int i = 0; i < SAMPLES && (i < LEAST || bench_now() < until);
	     i++) {
		double each[2];

		each[BENCH_FLOOR] = floor_once(holder, other);
		each[BENCH_OURS] = revoke_once(&p);
		for (int j = 0; j < 2; j++)
			bench_sample(&turns.single[j], each[j]);
		bench_turn(&turns, each);
	}
	bench_turns_figures(&turns, &res);
	bench_text(&res, "scheme", s->desc->name);
	close_crowd(&p);
	bench_lock_close(holder);
	bench_lock_close(other);
	bench_emit(&res, c);
}

/* ---- Many ---------------------------------------------------------------- */

static void sample_all(struct bench_result *res, const struct crowd *p)
{
	struct bench_samples each = bench_samples(p->n);

	for (unsigned int i = 0; i < p->n; i++)
		bench_sample(&each, time_of(&p->holder[i]));
	res->samples = each.n;
	res->p50 = bench_percentile(&each, 50);
	res->p99 = bench_percentile(&each, 99);
	bench_samples_free(&each);
}

/* A client has all holds, and a thread of another client asks for each. */
static void measure_many(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct crowd p;

	open_crowd(&p, s, c->n);
	make_mutexes(&p);
	hold_all(&p);
	bench_sleep(SETTLE);
	res.value = revoke_all(&p);
	sample_all(&res, &p);
	bench_extra(&res,
		    (double)(p.holder[p.n - 1].asked_at - p.holder[0].asked_at),
		    "asking_ns");
	bench_text(&res, "scheme", s->desc->name);
	release_all(&p);
	close_crowd(&p);
	bench_emit(&res, c);
}

/* A client has all permits of a semaphore, and another client asks once. */
static void measure_permits(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct crowd p;
	int64_t asked_at;

	open_crowd(&p, s, c->n);
	make_semaphore(&p);
	hold_all(&p);
	bench_sleep(SETTLE);
	asked_at = bench_now();
	for (unsigned int i = 0; i < p.n; i++)
		p.holder[i].asked_at = asked_at;
	bench_check(dlock_revoke(p.holder[0].asked, PATIENCE_MS),
		    "dlock_revoke");
	await_all(&p);
	res.value = (double)(last_told(&p) - asked_at);
	sample_all(&res, &p);
	bench_text(&res, "scheme", s->desc->name);
	release_all(&p);
	close_crowd(&p);
	bench_emit(&res, c);
}

const struct workload workload_revoke = { .measure = measure_told, .pin = 1 };
const struct workload workload_revoke_many = { .measure = measure_many };
const struct workload workload_revoke_permits = { .measure = measure_permits };
