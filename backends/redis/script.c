/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/script.h"

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

void dlki_redis_script_encode(const struct redis_session *s,
			      struct redis_commands *out,
			      const struct redis_call *call, int with_text)
{
	const struct redis_script_keys keys = {
		.lock = call->key,
		.clock = { s->clock, s->clock_len },
		.plain = call->plain,
	};

	dlki_redis_commands_call(out, call->script, with_text, &keys,
				 call->args, call->n_args);
}

static int send_and_recv(const struct redis_session *s, struct redis_conn *c,
			 const struct redis_call *call, int with_text,
			 dlk_time deadline, const struct redis_reply **reply,
			 struct dlk_error *err)
{
	static const char *const ping[] = { "PING" };
	int pings = call->ping && !with_text;
	struct redis_commands out;
	int rc;

	dlki_redis_commands_init(&out);
	if (pings)
		dlki_redis_commands_argv(&out, 1, ping);
	dlki_redis_script_encode(s, &out, call, with_text);
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	if (rc == 0 && pings)
		rc = dlki_redis_conn_recv(c, reply, deadline, err);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, reply, deadline, err);
	return rc;
}

/* *good: the connection may be used again. */
static int call_on(struct redis_session *s, struct redis_conn *c,
		   struct redis_call *call, dlk_time deadline, int *good,
		   const struct redis_reply **reply, struct dlk_error *err)
{
	int rc = send_and_recv(s, c, call, 0, deadline, reply, err);

	call->settled = *good = rc == 0;
	if (rc == 0)
		dlk_answered(&s->base, call->sent, dlk_now());
	if (rc != 0 || (*reply)->type != RD_ERROR)
		return rc;
	if (dlki_redis_fault_is((*reply)->text, "NOSCRIPT")) {
		rc = send_and_recv(s, c, call, 1, deadline, reply, err);
		call->settled = *good = rc == 0;
		if (rc != 0 || (*reply)->type != RD_ERROR)
			return rc;
	}
	return dlki_redis_conn_fault(s, c, *reply, good, err);
}

int dlki_redis_script_call(struct redis_session *s, struct redis_call *call,
			   dlk_time deadline, struct redis_conn **conn,
			   const struct redis_reply **reply,
			   struct dlk_error *err)
{
	call->sent = 0;
	call->settled = 1;
	call->crowded = 0;
	for (;;) {
		int fresh = 1;
		int good = 0;
		struct redis_conn *c;
		int rc;

		c = dlki_redis_conn_take(s, deadline, &fresh, err);
		if (!c) {
			call->crowded = fresh == DLK_POOL_CROWDED;
			if (call->crowded)
				dlk_fail(err, err->code, "%s (pool=)",
					 err->text);
			return err->code;
		}
		call->sent = dlk_now();
		rc = call_on(s, c, call, deadline, &good, reply, err);
		if (rc == 0 && dlki_redis_conn_current(s, c, err) == 0) {
			*conn = c;
			return 0;
		}
		if (rc == 0) {
			call->settled = 0;
			dlki_redis_conn_put(s, c, 0);
			return err->code;
		}
		if (good || rc != DLOCK_EUNREACHABLE) {
			dlki_redis_conn_put(s, c, good);
			return rc;
		}
		dlk_pool_dead(s->pool, &c->pooled);
		if (fresh || dlk_now() >= dlk_deadline(deadline))
			return rc;
		call->twice = 1;
	}
}

int dlki_redis_script_number(struct redis_session *s, struct redis_call *call,
			     dlk_time deadline, int64_t *out,
			     struct dlk_error *err)
{
	const struct redis_reply *reply = NULL;
	struct redis_conn *c = NULL;
	int rc = dlki_redis_script_call(s, call, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (!dlki_redis_number(reply, 0, out))
		return dlki_redis_conn_put_nonsense(s, c, err);
	dlki_redis_conn_put(s, c, 1);
	return 0;
}
