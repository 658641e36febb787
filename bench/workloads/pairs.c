/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that has many pairs of acquire and release under way, by
 * asynchronous calls; and the floor's pairs, one after the other. */
#include "bench/store.h"

#include <dlock/async.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 2000 /* at most */
#define EACH 16     /* pairs of a lock in a round */
#define FLOOR 256   /* pairs of the floor in a round */
#define ROUND_NS (60000 * BENCH_MS)

struct pairs {
	dlock_client *client;
	size_t n;        /* locks */
	size_t to_begin; /* pairs of this round */
	size_t to_end;
	struct pair {
		struct pairs *all;
		dlock_lock *lock;
	} * pair;
};

static void begin(struct pair *p);

static void released(const struct dlock_result *r, void *arg)
{
	struct pair *p = arg;

	bench_check(r->code, "an asynchronous release");
	p->all->to_end--;
	begin(p);
}

static void granted(const struct dlock_result *r, void *arg)
{
	bench_check(r->code, "an asynchronous acquire");
	bench_check(dlock_release_start(r->hold, released, arg),
		    "dlock_release_start");
}

static void begin(struct pair *p)
{
	if (p->all->to_begin == 0)
		return;
	p->all->to_begin--;
	bench_check(dlock_acquire_start(p->lock, 60000, granted, p, NULL),
		    "dlock_acquire_start");
}

/* Nanoseconds of a pair. */
static double round_of_ours(struct pairs *all)
{
	struct pollfd p = { .fd = dlock_client_fd(all->client),
			    .events = POLLIN };
	int64_t begun = bench_now();
	size_t n = EACH * all->n;

	all->to_begin = all->to_end = n;
	for (size_t i = 0; i < all->n; i++)
		begin(&all->pair[i]);
	while (all->to_end > 0) {
		bench_wait(begun + ROUND_NS, "pairs");
		if (poll(&p, 1, 100) == 1)
			(void)dlock_process(all->client, 0);
	}
	return (double)(bench_now() - begun) / (double)n;
}

static double round_of_floor(struct bench_lock *floor)
{
	int64_t begun = bench_now();

	for (int i = 0; i < FLOOR; i++)
		floor->ops->pair(floor);
	return (double)(bench_now() - begun) / FLOOR;
}

static void open_pairs(struct pairs *all, const struct bench_store *s, size_t n)
{
	*all = (struct pairs){ .client = store_client(s), .n = n };
	all->pair = bench_alloc(n, sizeof(all->pair[0]));
	for (size_t i = 0; i < n; i++) {
		struct pair *p = &all->pair[i];
		char name[32];

		snprintf(name, sizeof(name), "bench/%zu", i);
		p->all = all;
		bench_check(dlock_mutex_new(&p->lock, all->client, name),
			    "dlock_mutex_new");
		bench_check(dlock_lock_unbind(p->lock), "dlock_lock_unbind");
	}
}

static void close_pairs(struct pairs *all)
{
	for (size_t i = 0; i < all->n; i++)
		dlock_lock_free(all->pair[i].lock);
	dlock_close(all->client);
	free(all->pair);
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct bench_lock *floor = bench_lock_open(run->bench->floor, s);
	struct bench_turns turns = bench_turns(ROUNDS, 0);
	int64_t until;
	struct pairs all;

	open_pairs(&all, s, c->n);
	(void)round_of_floor(floor);
	(void)round_of_ours(&all);
	until = bench_now() + (int64_t)(run->seconds * 1e9);
	for (int i = 0; i < ROUNDS && (i == 0 || bench_now() < until); i++) {
		double each[2];

		each[BENCH_FLOOR] = round_of_floor(floor);
		each[BENCH_OURS] = round_of_ours(&all);
		bench_turn(&turns, each);
	}
	bench_turns_figures(&turns, &res);
	res.ratio = 1 / res.ratio;
	bench_text(&res, "scheme", s->desc->name);
	close_pairs(&all);
	bench_lock_close(floor);
	bench_emit(&res, c);
}

const struct workload workload_pairs = { .measure = measure, .pin = 1 };
