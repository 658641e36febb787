/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/mem.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

pthread_mutex_t dlki_mem_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dice = 88172645463325252u; /* under dlki_mem_mu */

int dlki_mem_rehearse(struct mem_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	if (s->delay_ms > 0) {
		int64_t left = (deadline - dlk_now()) / MEM_MS;

		if (left < s->delay_ms) {
			if (left > 0)
				poll(NULL, 0, (int)left);
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"mem: no answer in time (rehearsed)");
		}
		poll(NULL, 0, (int)s->delay_ms);
	}
	if (s->refuse_percent > 0) {
		int refused;

		pthread_mutex_lock(&dlki_mem_mu);
		dice ^= dice << 13;
		dice ^= dice >> 7;
		dice ^= dice << 17;
		refused = dice % 100 < s->refuse_percent;
		pthread_mutex_unlock(&dlki_mem_mu);
		if (refused)
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"mem: no answer (rehearsed)");
	}
	return 0;
}

/* Another thread may have been in the store when this process was forked, and
 * the parent's holders hold nothing here. */
static void in_child(void)
{
	dlki_mem_mu = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	dlki_mem_lines_forget();
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

static int mem_open(struct dlk_session *base, dlk_time deadline,
		    struct dlk_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct mem_session *s = (struct mem_session *)base;
	const struct dlk_uri *uri = base->uri;
	const char *host = uri->n_hosts > 0 ? uri->hosts[0].name : "";

	(void)deadline;
	pthread_once(&once, watch_forks);
	if (uri->n_hosts > 1 ||
	    (uri->n_hosts == 1 && uri->hosts[0].port != 0) || uri->path)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: only a name may follow: "
				"mem: or mem://NAME",
				uri->shown);
	if (snprintf(s->space, sizeof(s->space), "%s/%s/", host,
		     dlk_param_text(uri, "prefix")) >= (int)sizeof(s->space))
		return dlk_fail(err, DLOCK_EINVAL, "%s: the name is too long",
				uri->shown);
	s->leased = dlk_param_given(uri, "ttl");
	s->lose_ms = dlk_param_int(uri, "lose");
	s->delay_ms = dlk_param_int(uri, "delay");
	s->refuse_percent = (uint32_t)dlk_param_int(uri, "refuse");
	if (!s->leased)
		base->ttl_ms = 0;
	/* The loss is found by looking, as with a store that cannot tell. */
	if (s->lose_ms > 0)
		base->check_ms = s->lose_ms < 100 ? (s->lose_ms + 9) / 10 : 10;
	return 0;
}

static void mem_close(struct dlk_session *s, dlk_time deadline)
{
	(void)s;
	(void)deadline;
}

static dlk_time end_of_lease(const struct mem_session *s)
{
	return s->leased ? dlk_now() + s->base.ttl_ms * MEM_MS : DLK_FOREVER;
}

static void grant(struct mem_session *s, struct mem_party *p)
{
	p->granted = 1;
	p->token = dlki_mem_token();
	p->until = end_of_lease(s);
	p->lose_at = s->lose_ms > 0 ? dlk_now() + s->lose_ms * MEM_MS :
				      DLK_FOREVER;
}

/* When the first lease ahead of `p` ends: nobody tells of that. */
static dlk_time first_end(const struct mem_party *p)
{
	dlk_time first = DLK_FOREVER;

	for (const struct mem_party *q = p->line->first; q != p; q = q->next) {
		if (q->granted && q->until < first)
			first = q->until;
	}
	return first;
}

static enum dlk_verdict look(struct mem_session *s, struct mem_party *p,
			     struct dlk_error *err)
{
	int turn;

	if (p->line)
		dlki_mem_expire(p->line, dlk_now());
	if (!p->line && dlki_mem_join(p, err) != 0)
		return DLK_FAILED;
	turn = p->granted ? 1 : dlki_mem_turn(p, err);
	if (turn < 0)
		return DLK_FAILED;
	if (turn && !p->granted)
		grant(s, p);
	if (p->granted) {
		p->ticket.token = p->token;
		return DLK_GRANTED;
	}
	if (first_end(p) != DLK_FOREVER)
		p->ticket.look_again = first_end(p);
	return DLK_BUSY;
}

static enum dlk_verdict mem_attempt(struct dlk_ticket *t, dlk_time deadline,
				    struct dlk_error *err)
{
	struct mem_session *s = (struct mem_session *)t->session;
	enum dlk_verdict verdict;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return DLK_FAILED;
	pthread_mutex_lock(&dlki_mem_mu);
	verdict = look(s, (struct mem_party *)t, err);
	pthread_mutex_unlock(&dlki_mem_mu);
	return verdict;
}

static void mem_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_lease verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct mem_session *s = (struct mem_session *)base;
	dlk_time now;

	if (dlki_mem_rehearse(s, deadline, err) != 0)
		return;
	pthread_mutex_lock(&dlki_mem_mu);
	now = dlk_now();
	for (size_t i = 0; i < n; i++) {
		struct mem_party *p = (struct mem_party *)t[i];

		if (p->line && (p->lose_at <= now || p->until <= now))
			dlki_mem_leave(p);
		if (!p->line) {
			verdict[i] = DLK_GONE;
			continue;
		}
		p->until = end_of_lease(s);
		verdict[i] = s->leased ? DLK_RENEWED : DLK_STANDS;
	}
	pthread_mutex_unlock(&dlki_mem_mu);
}

static int mem_release(struct dlk_ticket *t, dlk_time deadline,
		       struct dlk_error *err)
{
	struct mem_party *p = (struct mem_party *)t;

	(void)deadline;
	(void)err;
	pthread_mutex_lock(&dlki_mem_mu);
	if (p->line)
		dlki_mem_leave(p);
	pthread_mutex_unlock(&dlki_mem_mu);
	return 0;
}

static int mem_downgrade(struct dlk_ticket *t, dlk_time deadline,
			 struct dlk_error *err)
{
	struct mem_party *p = (struct mem_party *)t;
	int rc = 0;

	(void)deadline;
	pthread_mutex_lock(&dlki_mem_mu);
	if (p->line) {
		p->ticket.claim.mode = DLK_SHARED;
		dlki_mem_wake(p->line);
	} else {
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	}
	pthread_mutex_unlock(&dlki_mem_mu);
	return rc;
}

static const char *const schemes[] = { "mem", NULL };

static const struct dlk_param params[] = {
	{ "lose", DLK_DURATION, NULL, 1, 86400000, NULL,
	  "rehearsal: every hold is lost this long after it was granted" },
	{ "refuse", DLK_NUMBER, "0", 0, 100, NULL,
	  "rehearsal: percentage of requests that get no answer" },
	{ "delay", DLK_DURATION, NULL, 1, 60000, NULL,
	  "rehearsal: every request takes this long" },
	{ 0 }
};

const struct dlock_backend dlki_mem_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks within this process",
	.caps = DLOCK_CAP_SHARED | DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |
		DLOCK_CAP_FAIR | DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_CONSISTENT | DLOCK_CAP_INSPECT | DLOCK_CAP_LIST,
	.params = params,
	.session_size = sizeof(struct mem_session),
	.ticket_size = sizeof(struct mem_party),
	.open = mem_open,
	.close = mem_close,
	.attempt = mem_attempt,
	.renew = mem_renew,
	.release = mem_release,
	.downgrade = mem_downgrade,
	.inspect = dlki_mem_inspect,
	.list = dlki_mem_list,
	.break_ = dlki_mem_break,
};
