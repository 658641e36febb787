/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/memcached_side.h"
#include "bench/threads.h"

static int run(struct bench_run *r)
{
	static const unsigned int size[BENCH_CROWDS] = { 1, 8, 64 };
	struct memcached_side s;
	int rc = memcached_side_open(&s, r);

	if (rc != 0)
		return rc;
	rc = bench_threads(r, s.uri[1], size, 1);
	memcached_side_close(&s);
	return rc;
}

const struct bench bench_memcached_threads = {
	.name = "memcached.threads",
	.summary = "memcached: 1, 8 and 64 threads of one client, each with a "
		   "name of its own",
	.run = run,
};
