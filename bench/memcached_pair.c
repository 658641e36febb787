/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/memcached_side.h"

/* One protocol against one floor. */
static int measure(struct memcached_side *s, int meta, int (*floor)(void *side),
		   const char *name)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns (ratio = ours/floor in pairs per second)");
	struct bench_lock lock;
	int rc = bench_lock_open(&lock, s->run, s->uri[meta]);

	if (rc != 0)
		return rc;
	rc = bench_pairs(s->run, (struct bench_op){ floor, s },
			 (struct bench_op){ bench_lock_pair, &lock }, &res);
	bench_lock_close(&lock);
	if (rc != 0)
		return rc;
	bench_text(&res, "protocol", meta ? "meta" : "text");
	bench_text(&res, "floor_is", name);
	bench_limit(&res, (struct bench_limit){ "ns to the floor's", res.ratio,
						1 / 0.9, 2, BENCH_TIME });
	res.ratio = 1 / res.ratio;
	bench_emit(s->run, &res);
	return 0;
}

static int run(struct bench_run *r)
{
	struct memcached_side s;
	int rc;

	bench_pin(r);
	rc = memcached_side_open(&s, r);
	if (rc != 0)
		return rc;
	rc = measure(&s, 0, memcached_bare_text, "libmemcached");
	if (rc == 0)
		rc = measure(&s, 1, memcached_bare_meta, "ms and md");
	memcached_side_close(&s);
	return rc;
}

const struct bench bench_memcached_pair = {
	.name = "memcached.pair",
	.summary = "memcached: acquire and release, with a token; floors: "
		   "libmemcached's add, gets, cas; and a bare ms, md",
	.run = run,
};
