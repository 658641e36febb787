/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/waiters.h"
#include "bench/zk_side.h"

#define IDLE_S 6

static int load(void *store, struct waiters_load *out)
{
	struct zk_packets all;
	int rc = zk_packets(store, &all);

	*out = (struct waiters_load){ all.received, all.sent };
	return rc;
}

static void report(const struct waiters_figures *f, struct bench_result *res)
{
	double idle = f->idle.heard / f->idle_s;

	/* Pings of nine sessions, and what the holder writes as a proof. */
	bench_extra(res, "idle_packets_per_s", idle);
	bench_extra(res, "chain_s", f->chain_s);
	bench_extra(res, "packets_per_release", f->chain.heard);
	bench_extra(res, "sent_per_release", f->chain.said);
	bench_extra(res, "wakes_per_release", f->wakes);
	bench_limit(res, (struct bench_limit){ "idle_packets_per_s", idle, 5,
					       50, BENCH_PLAIN });
	bench_limit(res,
		    (struct bench_limit){ "packets_per_release", f->chain.heard,
					  3, 8, BENCH_PLAIN });
	bench_limit(res, (struct bench_limit){ "wakes_per_release", f->wakes, 1,
					       1, BENCH_PLAIN });
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns from release to the next of 1,000 waiters");
	struct waiters_figures figures;
	struct zk_side s;
	struct waiters w = { r, s.uri, IDLE_S, load, &s };
	int rc = zk_side_open(&s, r, ZK_TMPFS, "?ttl=10s");

	if (rc != 0)
		return rc;
	rc = waiters_measure(&w, &figures, &res);
	zk_side_close(&s);
	if (rc != 0)
		return rc;
	report(&figures, &res);
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_zk_waiters = {
	.name = "zk.waiters",
	.summary = "zk: 1,000 waiters in 8 processes: what they ask while they "
		   "wait, and what one release costs",
	.run = run,
};
