/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/fifo.h"

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT("ns (ratio = ours/floor)");
	struct bench_lock lock;
	struct fifo fifo;
	int rc;

	fifo_init(&fifo);
	bench_pin(r);
	rc = bench_lock_open(&lock, r, "mem://bench");
	if (rc != 0)
		return rc;
	rc = bench_pairs(r, (struct bench_op){ fifo_pair, &fifo },
			 (struct bench_op){ bench_lock_pair, &lock }, &res);
	bench_lock_close(&lock);
	if (rc != 0)
		return rc;
	bench_limit(&res, (struct bench_limit){ "value", res.value, 2000, 4000,
						BENCH_TIME });
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_mem_pair = {
	.name = "mem.pair",
	.summary = "mem: acquire and release; floor: a FIFO lock of a pthread "
		   "mutex, condition variables and a list",
	.run = run,
};
