/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions; opening and closing. */
#include <stdlib.h>

#include "backends/memcached/protocol/store.h"
#include "core/base/error.h"

static int memc_open(struct dlki_store *base, struct dlk_error *err)
{
	struct memc_store *s = (struct memc_store *)base;
	int64_t ttl_ms = dlk_param_int(base->uri, "ttl");
	int rc = dlki_memc_uri_check(base->uri, err);

	STAILQ_INIT(&s->jobs);
	if (rc == 0)
		rc = dlki_memc_uri_lease(&ttl_ms, &s->lives, err);
	if (rc != 0)
		return rc;
	s->pauses = dlki_memc_uri_pauses(base->uri, ttl_ms);
	s->agreed = (struct dlki_agreed){
		.lease_ms = ttl_ms,
		.linger_ms = INT64_C(1000) * MEMC_MORE_S,
		.caps = MEMC_CAPS,
	};
	s->greeting = dlki_memc_job_new(s, NULL);
	if (s->greeting) {
		s->greeting->verb = DLKI_GREET;
		s->link = dlki_link_open(base, DLKI_ANSWERS);
	}
	return s->link ? 0 : dlki_nomem(err);
}

static void memc_greet(struct dlki_store *base, struct dlki_link *l,
		       dlk_time now)
{
	struct memc_store *s = (struct memc_store *)base;

	(void)l;
	s->now = now;
	dlki_memc_store_greet(s);
}

/* Refuse a verb.  The server cannot list keys; and the core keeps an exclusive
 * claim that is not downgraded. */
static void refuse(struct memc_store *s, struct dlki_op *op)
{
	struct dlk_error err;

	(void)s;
	dlk_fail(&err, DLOCK_ENOTSUP, "memcached cannot do that");
	dlki_failed(op, &err, DLKI_RESIDUE_NONE);
}

static memc_submit_fn *const submit[DLKI_VERBS] = {
	[DLKI_ATTEMPT] = dlki_memc_store_attempt,
	[DLKI_RENEW] = dlki_memc_store_renew,
	[DLKI_RELEASE] = dlki_memc_store_release,
	[DLKI_DOWNGRADE] = refuse,
	[DLKI_WATCH] = dlki_memc_store_watch,
	[DLKI_REVOKE] = dlki_memc_store_revoke,
	[DLKI_BREAK] = dlki_memc_store_break,
	[DLKI_INSPECT] = dlki_memc_store_inspect,
	[DLKI_RESIZE] = dlki_memc_store_resize,
	[DLKI_LIST] = refuse,
};

static void memc_submit(struct dlki_store *base, enum dlki_verb verb,
			struct dlki_op *const ops[], size_t n, dlk_time now)
{
	struct memc_store *s = (struct memc_store *)base;

	s->now = now;
	for (size_t i = 0; i < n; i++)
		submit[verb](s, ops[i]);
}

static int memc_input(struct dlki_store *base, struct dlki_link *l,
		      const char *bytes, size_t n, dlk_time now,
		      struct dlk_error *err)
{
	struct memc_store *s = (struct memc_store *)base;

	(void)l;
	s->now = now;
	return dlki_memc_store_input(s, bytes, n, err);
}

static void memc_lost(struct dlki_store *base, struct dlki_link *l,
		      dlk_time now)
{
	(void)l;
	(void)now;
	dlki_memc_jobs_forget((struct memc_store *)base);
}

/* Probe.  Answers are told apart by their order alone: if the answer to the op
 * never comes, the answer to the probe takes its place. */
static void memc_late(struct dlki_store *base, struct dlki_link *l,
		      dlk_time now)
{
	struct memc_store *s = (struct memc_store *)base;
	struct memc_job *job = dlki_memc_job_new(s, NULL);

	(void)l;
	(void)now;
	if (!job)
		return;
	job->verb = DLKI_PING;
	job->tail = MEMC_TAIL_VERSION;
	dlki_memc_job_send(s, job, NULL, NULL);
}

/* Resume held ops: the server's clock may have gone on. */
static void memc_timer(struct dlki_store *base, dlk_time now)
{
	if (now < base->due)
		return;
	base->due = DLK_FOREVER;
	dlki_resume(base);
}

static void memc_close(struct dlki_store *base)
{
	struct memc_store *s = (struct memc_store *)base;

	dlki_memc_jobs_forget(s);
	free(s->greeting);
	free(s->spare);
}

dlk_time dlki_memc_store_grants_from(const struct dlki_store *s)
{
	return ((const struct memc_store *)s)->run.grants_from;
}

const struct dlki_protocol dlki_memc_protocol = {
	.name = "memcached",
	.told_by = "stats",
	.unheard = "; a server with SASL (its -S) does so, and dlock has no "
		   "SASL: use its -Y",
	.size = sizeof(struct memc_store),
	.claim_size = sizeof(struct memc_asked),
	.open = memc_open,
	.greet = memc_greet,
	.submit = memc_submit,
	.input = memc_input,
	.lost = memc_lost,
	.late = memc_late,
	.timer = memc_timer,
	.close = memc_close,
};
