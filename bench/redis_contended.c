/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"
#include "bench/server.h"
#include "bench/stop.h"

#define POLL_NS 1000000 /* between two tries of the floor */
#define PROCESSES 8
#define ROUNDS 7

/* Only a hold after another's counts: who takes again what it has just given
 * back has kept the others from it. */
static void count(struct crowd *c, uint32_t me)
{
	if (atomic_exchange(&c->shared->last, me) != me)
		atomic_fetch_add(&c->shared->count, 1);
}

static int ours(struct crowd *c, uint32_t me, void *arg)
{
	struct server *s = arg;
	struct bench_lock lock;
	int rc = bench_lock_open(&lock, c->run, s->uri);

	if (rc != 0)
		return rc;
	crowd_gate(c);
	while (rc == 0 && !atomic_load(&c->shared->stop)) {
		rc = bench_lock_take(&lock);
		if (rc == 0) {
			count(c, me);
			rc = bench_lock_give(&lock);
		}
	}
	bench_lock_close(&lock);
	return rc;
}

static int floor_take(struct crowd *c, struct server *s)
{
	int rc = server_bare_try(s);

	while (rc == 0 && !atomic_load(&c->shared->stop)) {
		bench_sleep(POLL_NS);
		rc = server_bare_try(s);
	}
	return rc;
}

static int bare(struct crowd *c, uint32_t me, void *arg)
{
	struct server s = *(struct server *)arg;
	int rc;

	s.bare = NULL;
	rc = server_connect(&s);
	if (rc != 0)
		return rc;
	crowd_gate(c);
	while (rc == 0 && !atomic_load(&c->shared->stop)) {
		rc = floor_take(c, &s);
		if (rc == 1) {
			count(c, me);
			rc = server_bare_give(&s);
		}
	}
	server_disconnect(&s);
	return rc < 0 ? rc : 0;
}

/* Hand-offs per second. */
static int rate(struct server *s,
		int (*work)(struct crowd *c, uint32_t me, void *arg),
		double *per_second)
{
	struct crowd c = { .run = s->run, .work = work, .arg = s };
	int rc = crowd_start(&c, PROCESSES);
	uint64_t before;
	int64_t begin;

	if (rc == 0)
		rc = crowd_begin(&c);
	if (rc == 0) {
		bench_sleep(50000000);
		before = atomic_load(&c.shared->count);
		begin = bench_now();
		bench_sleep((int64_t)(s->run->seconds * 1e9 / (2 * ROUNDS)));
		*per_second = (double)(atomic_load(&c.shared->count) - before) *
			      1e9 / (double)(bench_now() - begin);
	}
	return crowd_end(&c) != 0 ? -1 : rc;
}

/* How the processes come to lie on the CPUs makes a difference of two in one
 * round, so that there are some, in turns. */
static int rounds(struct server *s, struct bench_samples all[3])
{
	double floor, value;
	int rc = 0;

	for (int i = 0; i < ROUNDS && rc == 0 && !bench_stopped; i++) {
		rc = rate(s, bare, &floor);
		if (rc == 0)
			rc = rate(s, ours, &value);
		if (rc != 0)
			break;
		bench_sample(&all[0], floor);
		bench_sample(&all[1], value);
		bench_sample(&all[2], value / floor);
	}
	return rc;
}

static int measure(struct server *s, struct bench_result *res)
{
	struct bench_samples all[3] = { { 0 } };
	int rc = 0;

	for (int i = 0; i < 3; i++)
		rc |= bench_samples_init(&all[i], ROUNDS);
	if (rc == 0)
		rc = rounds(s, all);
	res->floor = bench_percentile(&all[0], 50);
	res->value = bench_percentile(&all[1], 50);
	res->ratio = bench_percentile(&all[2], 50);
	bench_extra(res, "processes", PROCESSES);
	bench_extra(res, "rounds", (double)all[2].n);
	bench_extra(res, "least", all[2].n ? all[2].v[0] : 0);
	bench_extra(res, "most", all[2].n ? all[2].v[all[2].n - 1] : 0);
	for (int i = 0; i < 3; i++)
		bench_samples_free(&all[i]);
	if (rc != 0)
		return s->run->skipped ? 1 :
					 bench_fail(s->run, "the crowd failed");
	bench_limit(res,
		    (struct bench_limit){ "floor's to ours", 1 / res->ratio,
					  1 / 3.0, 1 / 1.5, BENCH_TIME });
	return 0;
}

static int run(struct bench_run *r)
{
	struct bench_result res =
		BENCH_RESULT_INIT("hand-offs/s (ratio = ours/floor)");
	struct server s;
	int rc = server_open(&s, r, "");

	if (rc != 0)
		return rc;
	server_disconnect(&s);
	rc = measure(&s, &res);
	server_close(&s);
	if (rc != 0)
		return rc;
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_redis_contended = {
	.name = "redis.contended",
	.summary = "redis: 8 processes that want one mutex; floor: SET NX PX, "
		   "tried each millisecond",
	.run = run,
};
