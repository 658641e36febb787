/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/null.h"

#include <dlock/backend.h>

struct null_ticket {
	struct dlk_ticket base;
	dlk_time renewed_at;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct null_figures figures; /* under mu */

static int null_open(struct dlk_session *s, dlk_time deadline,
		     struct dlk_error *err)
{
	(void)s;
	(void)deadline;
	(void)err;
	return 0;
}

static void null_close(struct dlk_session *s, dlk_time deadline)
{
	(void)s;
	(void)deadline;
}

static enum dlk_verdict null_attempt(struct dlk_ticket *t, dlk_time deadline,
				     struct dlk_error *err)
{
	(void)deadline;
	(void)err;
	((struct null_ticket *)t)->renewed_at = t->since;
	return DLK_GRANTED;
}

static void null_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		       enum dlk_lease verdict[], size_t n, dlk_time deadline,
		       struct dlk_error *err)
{
	int64_t interval_ns = s->ttl_ms * 1000000 / 3;
	int64_t latest_ns = 0;
	dlk_time now = dlk_now();

	(void)deadline;
	(void)err;
	for (size_t i = 0; i < n; i++) {
		struct null_ticket *ticket = (struct null_ticket *)t[i];
		int64_t late_ns = now - ticket->renewed_at - interval_ns;

		if (late_ns > latest_ns)
			latest_ns = late_ns;
		ticket->renewed_at = now;
		verdict[i] = DLK_RENEWED;
	}
	pthread_mutex_lock(&mu);
	figures.renewals += n;
	figures.batches++;
	if (latest_ns > figures.latest_ns)
		figures.latest_ns = latest_ns;
	pthread_mutex_unlock(&mu);
}

static int null_release(struct dlk_ticket *t, dlk_time deadline,
			struct dlk_error *err)
{
	(void)t;
	(void)deadline;
	(void)err;
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

int null_register(struct bench_run *r)
{
	static int done;
	int rc = done ? 0 : dlock_backend_register(&backend);

	if (rc != 0)
		return bench_fail_dlock(r, rc, "dlock_backend_register");
	done = 1;
	return 0;
}

struct null_figures null_take_figures(void)
{
	struct null_figures taken;

	pthread_mutex_lock(&mu);
	taken = figures;
	figures = (struct null_figures){ 0 };
	pthread_mutex_unlock(&mu);
	return taken;
}
