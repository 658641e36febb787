/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/server.h"
#include "bench/waiters.h"

#define TTL_S 6 /* as in the URI */

static int load(void *store, struct waiters_load *out)
{
	struct server_load all;
	int rc = server_load(store, &all);

	*out = (struct waiters_load){ all.scripts, all.published };
	return rc;
}

static void report(const struct waiters_figures *f, struct bench_result *res)
{
	double looks = f->idle.heard * TTL_S / (f->idle_s * WAITERS);

	bench_extra(res, "looks_per_waiter_ttl", looks);
	bench_extra(res, "chain_s", f->chain_s);
	bench_extra(res, "published_per_release", f->chain.said);
	/* Looks of those who wait on among them. */
	bench_extra(res, "requests_per_release", f->chain.heard);
	bench_extra(res, "wakes_per_release", f->wakes);
	bench_limit(res, (struct bench_limit){ "looks_per_waiter_ttl", looks,
					       3.1, 3.5, BENCH_PLAIN });
	bench_limit(res,
		    (struct bench_limit){ "requests_per_release",
					  f->chain.heard, 4, 20, BENCH_PLAIN });
	bench_limit(res, (struct bench_limit){ "wakes_per_release", f->wakes, 1,
					       1, BENCH_PLAIN });
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns from release to the next of 1,000 waiters");
	struct waiters_figures figures;
	struct server s;
	struct waiters w = { r, s.uri, TTL_S, load, &s };
	int rc = server_open(&s, r, "?ttl=6s");

	if (rc != 0)
		return rc;
	server_disconnect(&s);
	rc = waiters_measure(&w, &figures, &res);
	server_close(&s);
	if (rc != 0)
		return rc;
	report(&figures, &res);
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_redis_waiters = {
	.name = "redis.waiters",
	.summary = "redis: 1,000 waiters in 8 processes: what they ask while "
		   "they wait, and what one release costs",
	.run = run,
};
