/* SPDX-License-Identifier: Apache-2.0 */
/* null: a store that grants and renews at once: the rest is the core's cost. */
#include "bench/store.h"

#include <dlock/backend.h>

#include <stdatomic.h>

struct null_ticket {
	struct dlk_ticket base;
	dlk_time renewed_at;
};

struct null_figures null_figures;

static int null_open(struct dlk_session *s, dlk_time deadline,
		     struct dlk_error *err)
{
	(void)s, (void)deadline, (void)err;
	return 0;
}

static void null_close(struct dlk_session *s, dlk_time deadline)
{
	(void)s, (void)deadline;
}

static enum dlk_verdict null_attempt(struct dlk_ticket *t, dlk_time deadline,
				     struct dlk_error *err)
{
	(void)deadline, (void)err;
	((struct null_ticket *)t)->renewed_at = t->since;
	return DLK_GRANTED;
}

static void null_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		       enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		       struct dlk_error *err)
{
	int64_t interval_ns = s->ttl_ms * BENCH_MS / 3;
	int64_t latest_ns = atomic_load(&null_figures.latest_ns);
	dlk_time now = dlk_now();

	(void)deadline, (void)err;
	for (size_t i = 0; i < n; i++) {
		struct null_ticket *ticket = (struct null_ticket *)t[i];
		int64_t late_ns = now - ticket->renewed_at - interval_ns;

		if (late_ns > latest_ns)
			latest_ns = late_ns;
		ticket->renewed_at = now;
		verdict[i] = DLK_RENEWED;
	}
	atomic_fetch_add(&null_figures.renewals, n);
	atomic_fetch_add(&null_figures.batches, 1);
	atomic_store(&null_figures.latest_ns, latest_ns);
}

static int null_release(struct dlk_ticket *t, dlk_time deadline,
			struct dlk_error *err)
{
	(void)t, (void)deadline, (void)err;
	return 0;
}

static const char *const schemes[] = { "null", NULL };

static const struct dlock_backend backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "grants everything: for dlock-bench",
	.session_size = sizeof(struct dlk_session),
	.ticket_size = sizeof(struct null_ticket),
	.open = null_open,
	.close = null_close,
	.attempt = null_attempt,
	.renew = null_renew,
	.release = null_release,
};

static void store_open(struct bench_store *s)
{
	bench_check(dlock_backend_register(&backend), "dlock_backend_register");
	s->uri = store_text("null:");
}

const struct store_desc store_null = {
	.name = "null",
	.no_token = 1,
	.open = store_open,
};
