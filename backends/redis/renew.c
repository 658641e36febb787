/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"

/* A larger difference is not a delay: the clock was set. */
enum { STEP_MS = 250 };

struct renewal_batch {
	struct redis_session *s;
	struct dlk_ticket *const *tickets;
	enum dlk_renewal *verdicts;
	size_t n;
	dlk_time sent;
	int with_text;  /* the script's text went along */
	size_t unknown; /* the first call whose script the server did not know;
			 * n: none */
};

static void warn_of_clock(struct redis_session *s, int64_t off_ms, dlk_time now)
{
	if (s->warned && now - s->warned < s->base.ttl_ms * DLK_MS)
		return;
	s->warned = now;
	dlk_log(&s->base, 1,
		"the server's clock was set by %" PRId64
		" ms: leases there end that much %s",
		off_ms < 0 ? -off_ms : off_ms,
		off_ms < 0 ? "earlier" : "later");
}

/* The server says how much was left of the lease.  That must agree with the
 * time that has passed. */
static void check_clock(struct renewal_batch *b, struct redis_ticket *t,
			int64_t left_ms, dlk_time now)
{
	int64_t ttl_ms = b->s->base.ttl_ms;
	int64_t most, least;

	if (t->lease_from == 0)
		return;
	most = ttl_ms - (b->sent - t->lease_heard) / DLK_MS;
	least = ttl_ms - (now - t->lease_from) / DLK_MS;
	if (left_ms > most + STEP_MS)
		warn_of_clock(b->s, left_ms - most, now);
	else if (left_ms < least - STEP_MS)
		warn_of_clock(b->s, left_ms - least, now);
}

/* The answer about ticket i; not 0: the connection is of no more use. */
static int take_answer(struct renewal_batch *b, struct redis_conn *c, size_t i,
		       const struct redis_reply *reply, struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)b->tickets[i];
	int64_t left_ms;
	dlk_time now;
	int keep;

	if (reply->type == RD_ERROR) {
		if (!b->with_text &&
		    dlki_redis_fault_is(reply->text, "NOSCRIPT")) {
			if (b->unknown == b->n)
				b->unknown = i;
			return 0;
		}
		dlki_redis_conn_fault(b->s, c, reply, &keep, err);
		return keep ? 0 : err->code;
	}
	if (!dlki_redis_number(reply, -1, &left_ms))
		return dlki_redis_conn_nonsense(c, err);
	if (left_ms < 0) {
		b->verdicts[i] = DLK_GONE;
		return 0;
	}
	now = dlk_now();
	check_clock(b, t, left_ms, now);
	t->lease_from = b->sent;
	t->lease_heard = now;
	t->base.since = b->sent;
	b->verdicts[i] = DLK_RENEWED;
	return 0;
}

static void encode_renewal(struct renewal_batch *b, struct redis_commands *out,
			   size_t i, int with_text)
{
	struct redis_ticket *t = (struct redis_ticket *)b->tickets[i];
	char grant[RD_GRANT_SIZE];
	struct redis_arg args[] = {
		dlki_redis_ticket_grant(t, grant),
		{ b->s->ttl, b->s->ttl_len },
	};
	struct redis_call call = {
		.script = b->s->plain ? RD_RENEW_PLAIN : RD_RENEW,
		.key = dlki_redis_ticket_key(t),
		.plain = dlki_redis_plain_key(b->s, &t->base.request),
		.args = args,
		.n_args = 2,
	};

	dlki_redis_script_encode(b->s, out, &call, with_text);
}

/* Renew the tickets that have no answer yet, all in one batch.  `with_text`:
 * the first call brings the script's text. */
static int send_batch(struct renewal_batch *b, struct redis_conn *c,
		      int with_text, dlk_time deadline, struct dlk_error *err)
{
	const struct redis_reply *reply;
	size_t from = with_text ? b->unknown : 0;
	struct redis_commands out;
	int rc;

	dlki_redis_commands_init(&out);
	for (size_t i = from; i < b->n; i++)
		encode_renewal(b, &out, i, with_text && i == from);
	b->with_text = with_text;
	b->unknown = b->n;
	b->sent = dlk_now();
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	for (size_t i = from; rc == 0 && i < b->n; i++) {
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
		if (rc == 0)
			rc = take_answer(b, c, i, reply, err);
	}
	return rc;
}

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct renewal_batch b = {
		.s = s,
		.tickets = t,
		.verdicts = verdicts,
		.n = n,
	};

	for (;;) {
		int fresh = 1;
		struct redis_conn *c;
		int rc;

		c = dlki_redis_conn_take_urgent(s, deadline, &fresh, err);
		if (!c)
			return;
		b.unknown = n;
		rc = send_batch(&b, c, 0, deadline, err);
		if (rc == 0 && b.unknown < n)
			rc = send_batch(&b, c, 1, deadline, err);
		if (dlki_redis_conn_current(s, c, err) != 0) {
			for (size_t i = 0; i < n; i++)
				verdicts[i] = DLK_UNKNOWN;
			rc = err->code;
		}
		if (rc != DLOCK_EUNREACHABLE) {
			dlki_redis_conn_put(s, c, rc == 0);
			return;
		}
		dlk_pool_dead(s->pool, &c->pooled);
		if (fresh || dlk_now() >= deadline)
			return;
	}
}
