/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/notify.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"
#include "backends/redis/waiters.h"

#include <string.h>

static int ask_server(struct redis_ticket *t, dlk_time deadline,
		      struct redis_watch_answer *answer, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	char grant[RD_GRANT_SIZE];
	struct redis_arg args[] = {
		dlki_redis_ticket_grant(t, grant),
		{ s->channel, strlen(s->channel) },
		{ s->ttl, s->ttl_len },
	};
	struct redis_call call = {
		.script = RD_WATCH,
		.key = dlki_redis_ticket_key(t),
		.args = args,
		.n_args = 3,
	};
	const struct redis_reply *reply;
	struct redis_conn *c;
	int rc = dlki_redis_script_call(s, &call, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (!dlki_redis_watch_answer(reply, answer))
		return dlki_redis_conn_put_nonsense(s, c, err);
	dlki_redis_conn_put(s, c, 1);
	return 0;
}

/* The channel is listened to first: what is published before is lost. */
int dlki_redis_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			    struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;
	struct redis_watch_answer answer;
	int rc;

	if (!dlki_redis_notify_up(s, deadline))
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"no notification channel");
	dlki_redis_waiter_watch(t);
	rc = ask_server(t, deadline, &answer, err);
	if (rc != 0)
		return rc;
	if (answer.last == 0)
		return dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	base->token_last = answer.last;
	return answer.others;
}

int dlki_redis_revoke(struct dlk_session *base,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	char key[RD_KEY_SIZE];
	struct redis_call call = {
		.script = RD_REVOKE,
		.key = dlki_redis_session_key(s, request->key, key),
	};
	int64_t told;

	return dlki_redis_script_number(s, &call, deadline, &told, err);
}
