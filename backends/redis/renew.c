/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

/* More than this is no delay but a clock that was set. */
enum { STEP_MS = 250 };

struct flight {
	struct redis_session *s;
	struct dlk_ticket *const *tickets;
	enum dlk_lease *verdicts;
	size_t n;
	dlk_time sent;
	size_t unknown; /* first one whose script the server does not know */
};

static void note_step(struct redis_session *s, int64_t off_ms, dlk_time now)
{
	if (s->warned && now - s->warned < s->base.ttl_ms * REDIS_MS)
		return;
	s->warned = now;
	dlk_log(&s->base, 1,
		"the server's clock was set by %" PRId64
		" ms: leases there end that much %s",
		off_ms < 0 ? -off_ms : off_ms,
		off_ms < 0 ? "earlier" : "later");
}

/* What was left of the lease must be what time has left of it. */
static void check_clock(struct flight *f, struct redis_ticket *t,
			int64_t left_ms, dlk_time now)
{
	int64_t ttl_ms = f->s->base.ttl_ms;
	int64_t most, least;

	if (t->lease_from == 0)
		return;
	most = ttl_ms - (f->sent - t->lease_heard) / REDIS_MS;
	least = ttl_ms - (now - t->lease_from) / REDIS_MS;
	if (left_ms > most + STEP_MS)
		note_step(f->s, left_ms - most, now);
	else if (left_ms < least - STEP_MS)
		note_step(f->s, left_ms - least, now);
}

/* The answer about one: 0, or the connection is of no more use. */
static int answered(struct flight *f, struct redis_conn *c, size_t i,
		    const struct redis_reply *reply, struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)f->tickets[i];
	int64_t left_ms;
	dlk_time now;
	int keep;

	if (reply->type == REDIS_ERROR) {
		if (dlki_redis_fault_is(reply->text, "NOSCRIPT") &&
		    f->unknown == f->n)
			f->unknown = i;
		dlki_redis_fault(reply->text, reply->len, c->net.who, &keep,
				 err);
		return keep ? 0 : err->code;
	}
	if (!dlki_redis_number(reply, -1, &left_ms))
		return dlk_fail(err, DLOCK_EPROTO,
				"%s answered what we do not understand",
				c->net.who);
	if (left_ms < 0) {
		f->verdicts[i] = DLK_GONE;
		return 0;
	}
	now = dlk_now();
	check_clock(f, t, left_ms, now);
	t->lease_from = f->sent;
	t->lease_heard = now;
	t->base.since = f->sent;
	f->verdicts[i] = DLK_RENEWED;
	return 0;
}

static void request(struct flight *f, struct redis_out *o, size_t i, int whole)
{
	struct redis_ticket *t = (struct redis_ticket *)f->tickets[i];
	char grant[52];
	struct redis_word args[] = {
		dlki_redis_grant(t, grant),
		{ f->s->ttl, f->s->ttl_len },
	};
	struct redis_request one = { REDIS_RENEW, dlki_redis_ticket_key(t),
				     args,        2,
				     0,           0 };

	dlki_redis_call(f->s, o, &one, whole);
}

/* All that have no answer yet, in one flight; `whole`: the first of them brings
 * the script's text. */
static int fly(struct flight *f, struct redis_conn *c, int whole,
	       dlk_time deadline, struct dlk_error *err)
{
	const struct redis_reply *reply;
	size_t from = whole ? f->unknown : 0;
	struct redis_out o;
	int rc;

	dlki_redis_out_init(&o);
	for (size_t i = from; i < f->n; i++)
		request(f, &o, i, whole && i == from);
	f->unknown = f->n;
	f->sent = dlk_now();
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	for (size_t i = from; rc == 0 && i < f->n; i++) {
		rc = dlki_redis_hear(c, &reply, deadline, err);
		if (rc == 0)
			rc = answered(f, c, i, reply, err);
	}
	return rc;
}

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_lease verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct flight f = { .s = s, .tickets = t, .verdicts = verdict, .n = n };

	for (;;) {
		int fresh = 1;
		struct redis_conn *c = (struct redis_conn *)dlki_pool_take(
			s->pool, deadline, &fresh, err);
		int rc;

		if (!c)
			return;
		f.unknown = n;
		rc = fly(&f, c, 0, deadline, err);
		if (rc == 0 && f.unknown < n)
			rc = fly(&f, c, 1, deadline, err);
		dlki_redis_done(s, c, rc == 0);
		if (rc != DLOCK_EUNREACHABLE || fresh || dlk_now() >= deadline)
			return;
		dlki_pool_renew(s->pool);
	}
}
