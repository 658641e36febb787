/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/threads.h"
#include "bench/zk_side.h"

static int run(struct bench_run *r)
{
	static const unsigned int size[BENCH_CROWDS] = { 1, 8, 64 };
	struct zk_side s;
	int rc = zk_side_open(&s, r, ZK_TMPFS, "");

	if (rc != 0)
		return rc;
	rc = bench_threads(r, s.uri, size, 2);
	zk_side_close(&s);
	return rc;
}

const struct bench bench_zk_threads = {
	.name = "zk.threads",
	.summary = "zk: 1, 8 and 64 threads of one client, each with a name of "
		   "its own",
	.run = run,
};
