/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/fifo.h"
#include "bench/handoff.h"

#include <stdlib.h>

static struct fifo fifo;

static int fifo_open(struct bench_run *r, const char *where, void *other,
		     void **out)
{
	(void)r;
	(void)where;
	if (!other)
		fifo_init(&fifo);
	*out = &fifo;
	return 0;
}

static void fifo_close(void *lock)
{
	(void)lock;
}

static int take(void *lock)
{
	fifo_take(lock);
	return 0;
}

static int give(void *lock)
{
	fifo_give(lock);
	return 0;
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT("ns (ratio = ours/floor)");
	const struct handoff plan = {
		.threads = 1,
		.floor = { fifo_open, fifo_close, take, give, NULL },
		.ours = handoff_dlock,
		.our_where = "mem://bench",
	};
	int rc = handoff_measure(r, &plan, &res);

	if (rc == 0)
		bench_emit(r, &res);
	return rc;
}

const struct bench bench_mem_handoff = {
	.name = "mem.handoff",
	.summary = "mem: from release to a waiter in another thread; floor: a "
		   "condition variable",
	.run = run,
};
