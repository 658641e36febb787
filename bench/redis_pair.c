/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/server.h"

#define PINGS 20000

/* What the server spends on each of our scripts. */
static int server_side(struct server *s, struct bench_lock *lock,
		       struct bench_result *res)
{
	struct server_load before, after;
	double scripts;
	int rc = server_load(s, &before);

	for (int i = 0; rc == 0 && i < 1000; i++)
		rc = bench_lock_pair(lock);
	if (rc == 0)
		rc = server_load(s, &after);
	if (rc != 0)
		return rc;
	scripts = after.scripts - before.scripts;
	bench_extra(res, "requests_per_pair", scripts / 1000);
	bench_extra(res, "script_us",
		    (after.scripts * after.script_us -
		     before.scripts * before.script_us) /
			    scripts);
	return 0;
}

static int measure(struct server *s, struct bench_result *res)
{
	struct bench_lock lock;
	int rc = bench_lock_open(&lock, s->run, s->uri);

	if (rc != 0)
		return rc;
	rc = bench_pairs(s->run, (struct bench_op){ server_bare_pair, s },
			 (struct bench_op){ bench_lock_pair, &lock }, res);
	if (rc == 0)
		rc = server_side(s, &lock, res);
	bench_lock_close(&lock);
	bench_extra(res, "ping_p50", server_ping_p50(s, PINGS, 0));
	return rc;
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns (ratio = ours/floor in pairs per second)");
	struct server s;
	int rc;

	bench_pin(r);
	rc = server_open(&s, r, "");
	if (rc != 0)
		return rc;
	rc = measure(&s, &res);
	server_close(&s);
	if (rc != 0)
		return rc;
	bench_limit(&res, (struct bench_limit){ "ns to the floor's", res.ratio,
						1 / 0.9, 2, BENCH_TIME });
	res.ratio = 1 / res.ratio;
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_redis_pair = {
	.name = "redis.pair",
	.summary = "redis: acquire and release, with a token; floor: hiredis "
		   "doing SET NX PX and compare-and-delete",
	.run = run,
};
