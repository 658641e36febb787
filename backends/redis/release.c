/* SPDX-License-Identifier: Apache-2.0 */
/* Release, also of all claims at once; and downgrade. */
#include "backends/redis/conn.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"
#include "backends/redis/waiters.h"

/* ---- One ----------------------------------------------------------------- */

static void prepare_release(struct redis_ticket *t, struct redis_call *call,
			    struct redis_release *a)
{
	const struct redis_session *s = (struct redis_session *)t->base.session;

	dlki_redis_release_args(a, t->base.request.owner, t->base.token,
				t->base.token_used);
	*call = (struct redis_call){
		.script = s->plain ? RD_RELEASE_PLAIN : RD_RELEASE,
		.key = dlki_redis_ticket_key(t),
		.plain = dlki_redis_plain_key(s, &t->base.request),
		.args = a->args,
		.n_args = a->n_args,
	};
}

static int wants_ping(const struct redis_ticket *t)
{
	return t->granted &&
	       dlki_redis_ping_pays(t->lease_heard, t->pushed, dlk_now());
}

/* It was sent already, and the connection that was used last mostly owes the
 * answer.  1: it came, and the store has nothing of the claim. */
static int was_answered(struct redis_session *s, struct redis_ticket *t,
			dlk_time deadline)
{
	struct redis_owed_answer answer = { .id = t->base.id };
	struct dlk_error ignored = { 0 };
	struct redis_conn *c;
	int fresh = 1;

	t->owed = 0;
	c = dlki_redis_conn_take(s, deadline, &fresh, &ignored);
	if (!c)
		return 0;
	if (dlki_redis_conn_settle(c, &answer, deadline, &ignored) == 0)
		dlki_redis_conn_put(s, c, 1);
	else
		dlk_pool_dead(s->pool, &c->pooled);
	return answer.came && (answer.rc == 0 || answer.rc == DLOCK_ELOST);
}

int dlki_redis_release(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;
	struct redis_release args;
	struct redis_call call;
	int ping = wants_ping(t);
	int granted = t->granted;
	int64_t had;
	int rc;

	dlki_redis_waiter_forget(t);
	t->granted = 0;
	if (!t->asked || (t->owed && was_answered(s, t, deadline)))
		return 0;
	prepare_release(t, &call, &args);
	call.ping = ping;
	rc = dlki_redis_script_number(s, &call, deadline, &had, err);
	if (rc == 0 && granted && !had && !call.twice)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return rc;
}

/* ---- Without waiting for the answer -------------------------------------- */

static int send_release(struct redis_conn *c, struct redis_ticket *t,
			dlk_time deadline, struct dlk_error *err)
{
	struct redis_commands out;
	struct redis_release args;
	struct redis_call call;
	int rc = 0;

	if (c->owed.n == RD_OWED_MAX)
		rc = dlki_redis_conn_settle(c, NULL, deadline, err);
	if (rc != 0)
		return rc;
	prepare_release(t, &call, &args);
	dlki_redis_commands_init(&out);
	dlki_redis_script_encode(c->session, &out, &call,
				 !atomic_load(&c->session->knows_release));
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	return rc;
}

/* No PING goes ahead of it: the answer wakes nobody. */
int dlki_redis_release_begin(struct dlk_ticket *base, dlk_time deadline,
			     struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;
	struct redis_conn *c;
	int granted = t->granted;
	int fresh = 1;

	if (!granted)
		return dlki_redis_release(base, deadline, err);
	c = dlki_redis_conn_take(s, deadline, &fresh, err);
	if (!c)
		return err->code;
	dlki_redis_waiter_forget(t);
	t->granted = 0;
	if (send_release(c, t, deadline, err) != 0) {
		dlk_pool_dead(s->pool, &c->pooled);
		return dlki_redis_release(base, deadline, err);
	}
	t->owed = 1;
	dlki_redis_conn_owes(c, t, granted);
	dlki_redis_conn_put(s, c, 1);
	return DLK_SENT;
}

/* ---- Downgrade ----------------------------------------------------------- */

int dlki_redis_downgrade(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;
	struct redis_arg ttl = { s->ttl, s->ttl_len };
	char payload[RD_PAYLOAD_SIZE], grant[RD_GRANT_SIZE];
	struct redis_arg args[] = {
		dlki_redis_ticket_grant(t, grant),
		ttl,
		dlki_redis_payload(&base->request, ttl, s->label_len, payload),
	};
	struct redis_call call = {
		.script = RD_DOWNGRADE,
		.key = dlki_redis_ticket_key(t),
		.args = args,
		.n_args = 3,
	};
	int64_t done = 0;
	int rc = dlki_redis_script_number(s, &call, deadline, &done, err);

	if (rc != 0)
		return rc;
	t->lease_from = 0;
	if (!done)
		return dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	base->request.mode = DLK_SHARED;
	return 0;
}

/* ---- All ----------------------------------------------------------------- */

enum { BATCH = 256 };

/* The first call brings the script's text: a server that does not know the
 * script would refuse them all. */
static size_t encode_releases(const struct redis_session *s,
			      struct redis_commands *out,
			      struct dlk_ticket *const t[], size_t n)
{
	size_t calls = 0;

	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];
		struct redis_release args;
		struct redis_call call;

		if (!one->asked)
			continue;
		prepare_release(one, &call, &args);
		dlki_redis_script_encode(s, out, &call, calls == 0);
		calls++;
	}
	return calls;
}

/* A claim that the server refuses to release is left to the lease. */
static int release_batch(struct redis_session *s, struct redis_conn *c,
			 struct dlk_ticket *const t[], size_t n,
			 dlk_time deadline, struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct redis_commands out;
	size_t calls;
	int keep, rc;

	dlki_redis_commands_init(&out);
	calls = encode_releases(s, &out, t, n);
	rc = calls > 0 ? dlki_redis_conn_send(c, &out, deadline, err) : 0;
	dlki_redis_commands_free(&out);
	while (rc == 0 && calls-- > 0) {
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
		if (rc == 0 && reply->type == RD_ERROR) {
			rc = dlki_redis_conn_fault(s, c, reply, &keep, err);
			if (keep)
				rc = 0;
		}
	}
	return rc;
}

void dlki_redis_release_all(struct dlk_session *base,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_conn *c = NULL;
	struct dlk_error err = { 0 };
	int fresh = 1, out_of_memory = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		dlki_redis_waiter_forget((struct redis_ticket *)t[i]);
	for (size_t done = 0; rc == 0 && done < n;) {
		size_t some = n - done < BATCH ? n - done : BATCH;

		if (!c)
			c = (struct redis_conn *)dlk_pool_take(
				s->pool, deadline, &fresh, &err);
		rc = c ? release_batch(s, c, t + done, some, deadline, &err) :
			 err.code;
		if (rc == 0) {
			done += some;
			continue;
		}
		if (c)
			dlk_pool_dead(s->pool, &c->pooled);
		/* The server may have closed an idle one: once more, on a new
		 * one. */
		if (c && !fresh && rc == DLOCK_EUNREACHABLE)
			rc = 0;
		/* Others may have freed some memory since. */
		if (rc == DLOCK_ENOMEM && !out_of_memory++)
			rc = 0;
		c = NULL;
	}
	if (c)
		dlki_redis_conn_put(s, c, 1);
}
