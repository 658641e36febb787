/* SPDX-License-Identifier: Apache-2.0 */
/* Acquire and release without contention: dlock and the floor, by turns. */
#include "bench/store.h"

#include <stdatomic.h>
#include <unistd.h>

/* Rounds are shorter than a time slice of the scheduler, so that other work on
 * this CPU spoils some rounds and not the median. */
#define SLICE_NS 100000
#define ROUNDS 20000   /* at most */
#define SINGLES 200000 /* pairs timed singly, at most */
#define COUNTED 1000   /* pairs with a count of requests */
#define ENOUGH 80      /* a median of fewer pairs is luck on a busy machine */
#define CLIENTS 2      /* at most */
#define PARKED_NS (10000 * BENCH_MS)

struct side {
	void (*pair)(void *arg);
	void *arg;
	size_t batch; /* pairs in a round */
};

static void repeat(const struct side *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->pair(s->arg);
}

/* Run for `ns`, and find out how many pairs fill a slice. */
static void warm_up(struct side *s, int64_t ns)
{
	int64_t begin = bench_now();
	size_t n = 0, step = 1;
	double each;

	do {
		repeat(s, step);
		n += step;
		if (step < 1024)
			step *= 2;
	} while (bench_now() < begin + ns);
	each = (double)(bench_now() - begin) / (double)n;
	s->batch = (size_t)(SLICE_NS / each) + 4;
}

/* Time a batch as a whole, and then another pair by pair.  Returns the mean of
 * the former. */
static double round_of(struct side *s, struct bench_samples *singles)
{
	int64_t begin = bench_now();
	double each;

	repeat(s, s->batch);
	each = (double)(bench_now() - begin) / (double)s->batch;
	begin = bench_now();
	for (size_t i = 0; i < s->batch; i++) {
		int64_t end;

		s->pair(s->arg);
		end = bench_now();
		bench_sample(singles, (double)(end - begin));
		begin = end;
	}
	return each;
}

/* The least of many means, so that other work does not count. */
static double clock_cost(void)
{
	double least = 1e9;

	for (int i = 0; i < 50; i++) {
		int64_t begin = bench_now();
		int64_t end = begin;
		double mean;

		for (int n = 0; n < 100; n++)
			end = bench_now();
		mean = (double)(end - begin) / 100;
		if (mean < least)
			least = mean;
	}
	return least;
}

/* Set all figures of `res`, in nanoseconds.  Value, floor and ratio are for
 * batches.  p50 and p99 are for single pairs, and include a reading of the
 * clock, which takes clock_ns. */
static void compare_pairs(struct bench_lock *floor, struct side ours,
			  struct bench_result *res)
{
	struct side side[2] = { { .pair = floor->ops->pair, .arg = floor },
				ours };
	struct bench_turns turns = bench_turns(ROUNDS, SINGLES);
	int64_t ns = (int64_t)(run->seconds * 1e9);
	int64_t until;

	warm_up(&side[0], ns / 10);
	warm_up(&side[1], ns / 10);
	until = bench_now() + ns / 10 * 8;
	for (int i = 0; i < ROUNDS && (i == 0 || bench_now() < until); i++) {
		double each[2];

		/* Each goes first every other time. */
		for (int j = i; j < i + 2; j++)
			each[j % 2] = round_of(&side[j % 2],
					       &turns.single[j % 2]);
		bench_turn(&turns, each);
	}
	bench_turns_figures(&turns, res);
	bench_extra(res, (double)side[1].batch, "pairs_per_round");
	bench_extra(res, clock_cost(), "clock_ns");
}

static void compare_with(const struct lock_ops *ops,
			 const struct bench_store *s, struct side ours,
			 struct bench_result *res)
{
	struct bench_lock *floor = bench_lock_open(ops, s);

	compare_pairs(floor, ours, res);
	bench_lock_close(floor);
}

/* How many requests a pair makes, and how long a script takes the server. */
static void count_requests(const struct bench_store *s, struct side ours,
			   struct bench_result *res)
{
	struct store_load load = s->desc->load(s);

	repeat(&ours, COUNTED);
	load = store_load_since(s, load, COUNTED);
	bench_extra(res, load.requests, "%s_per_pair", s->desc->requests);
	if (load.script_us > 0)
		bench_extra(res, load.script_us / load.requests, "script_us");
}

/* Clients that acquire the lock by turns. */
struct clients {
	struct bench_lock *lock[CLIENTS];
	unsigned int n, next;
};

static void pair_by_turns(void *clients)
{
	struct clients *c = clients;

	lock_dlock.pair(c->lock[c->next++ % c->n]);
}

static void with_clients(const struct bench_store *s, struct clients *c,
			 struct bench_result *res)
{
	const struct bench *bench = run->bench;
	struct side ours = { .pair = pair_by_turns, .arg = c };
	struct bench_result recipe = BENCH_RESULT;

	if (c->n == 1)
		ours = (struct side){ lock_dlock.pair, c->lock[0], 0 };
	compare_with(bench->floor, s, ours, res);
	if (bench->recipe) {
		compare_with(bench->recipe, s, ours, &recipe);
		bench_extra(res, c->n, "clients");
		bench_extra(res, recipe.floor, "recipe");
		bench_extra(res, 1 / recipe.ratio, "to_recipe");
	}
	if (s->desc->requests)
		count_requests(s, ours, res);
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct clients clients = { .n = c->n };

	for (unsigned int i = 0; i < c->n; i++)
		clients.lock[i] = bench_lock_open(&lock_dlock, s);
	with_clients(s, &clients, &res);
	for (unsigned int i = 0; i < c->n; i++)
		bench_lock_close(clients.lock[i]);
	if (run->bench->floor->finish)
		run->bench->floor->finish(s, &res);
	/* For a server, the ratio is of pairs per second. */
	if (s->desc->load)
		res.ratio = 1 / res.ratio;
	bench_emit(&res, res.samples < ENOUGH ? NULL : c);
}

const struct workload workload_pair = { .measure = measure, .pin = 1 };

/* ---- Beside a parked thread ---------------------------------------------- */

/* A thread that waits for a mutex of another client all the time. */
struct parked {
	struct bench_lock *other, *held, *wanted;
	pthread_t thread;
	atomic_int tid, over;
};

static void *park(void *arg)
{
	struct parked *p = arg;

	atomic_store(&p->tid, gettid());
	p->wanted->ops->acquire(p->wanted);
	atomic_store(&p->over, 1);
	p->wanted->ops->release(p->wanted);
	return NULL;
}

/* A thread of l's client begins to wait. */
static void begin_parking(struct parked *p, const struct bench_lock *l)
{
	int64_t until = bench_now() + PARKED_NS;
	int fd, looks = 0;

	p->other = bench_lock_open(l->ops, l->store);
	p->held = bench_lock_guest(p->other, "parked");
	p->held->ops->acquire(p->held);
	p->wanted = bench_lock_guest(l, "parked");
	bench_thread(&p->thread, park, p);
	while (atomic_load(&p->tid) == 0)
		bench_sleep(BENCH_MS);
	fd = bench_open_stat(getpid(), atomic_load(&p->tid));
	while (looks < 20) {
		bench_wait(until, "the waiter does not block");
		bench_sleep(BENCH_MS);
		looks = bench_is_asleep(fd) ? looks + 1 : 0;
	}
	close(fd);
}

static void end_parking(struct parked *p)
{
	if (atomic_load(&p->over))
		bench_fail("the parked thread has got its lock");
	p->held->ops->release(p->held);
	pthread_join(p->thread, NULL);
	bench_lock_close(p->wanted);
	bench_lock_close(p->held);
	bench_lock_close(p->other);
}

/* Measure pairs of two clients by turns; a client has a parked thread. */
static void measure_parked(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct bench_lock *alone = bench_lock_open(&lock_dlock, s);
	struct bench_lock *beside = bench_lock_open(&lock_dlock, s);
	struct parked p = { 0 };

	begin_parking(&p, beside);
	compare_pairs(alone, (struct side){ beside->ops->pair, beside, 0 },
		      &res);
	end_parking(&p);
	bench_lock_close(beside);
	bench_lock_close(alone);
	bench_emit(&res, c);
}

const struct workload workload_parked = { .measure = measure_parked, .pin = 1 };
