/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/server.h"
#include "bench/threads.h"

static int run(struct bench_run *r)
{
	static const unsigned int size[BENCH_CROWDS] = { 1, 8, 64 };
	struct server s;
	int rc = server_open(&s, r, "");

	if (rc != 0)
		return rc;
	rc = bench_threads(r, s.uri, size, 2.5);
	server_close(&s);
	return rc;
}

const struct bench bench_redis_threads = {
	.name = "redis.threads",
	.summary = "redis: 1, 8 and 64 threads of one client, each with a name "
		   "of its own",
	.run = run,
};
