/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect, break, and list. */
#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/found.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"

int dlki_redis_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	const struct redis_arg only = { "holders", 7 };
	const struct redis_reply *reply;
	struct redis_conn *c;
	char key[RD_KEY_SIZE];
	struct redis_call call = {
		.script = RD_INSPECT,
		.key = dlki_redis_session_key(s, request->key, key),
		.plain = dlki_redis_plain_key(s, request),
		.args = &only,
		.n_args = request->holders_only ? 1 : 0,
	};
	int rc = dlki_redis_session_check(s, request, err);

	if (rc == 0)
		rc = dlki_redis_script_call(s, &call, deadline, &c, &reply,
					    err);
	if (rc != 0)
		return rc;
	if (reply->type != RD_ARRAY)
		return dlki_redis_conn_put_nonsense(s, c, err);
	for (size_t i = 0; i < reply->len; i++) {
		struct redis_participant one;

		if (!dlki_redis_participant(reply->parts[i], &one))
			return dlki_redis_conn_put_nonsense(s, c, err);
		each(&one.participant, arg);
	}
	dlki_redis_conn_put(s, c, 1);
	return 0;
}

/* Ask with `call`, which has no arguments yet. */
static int see_holders(struct redis_session *s, struct redis_call *call,
		       struct redis_seen *out, dlk_time deadline,
		       struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct redis_conn *c;
	int rc = dlki_redis_script_call(s, call, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (!dlki_redis_seen(reply, s->plain, out))
		return dlki_redis_conn_put_nonsense(s, c, err);
	dlki_redis_conn_put(s, c, 1);
	return 0;
}

int dlki_redis_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	char key[RD_KEY_SIZE];
	struct redis_seen seen = { .len = RD_TOKEN_LEN };
	struct redis_arg args[2] = { { seen.text, RD_TOKEN_LEN },
				     { seen.text + RD_TOKEN_LEN, 0 } };
	struct redis_call call = {
		.script = RD_BREAK,
		.key = dlki_redis_session_key(s, request->key, key),
		.plain = dlki_redis_plain_key(s, request),
	};
	int64_t done;
	int rc = dlki_redis_session_check(s, request, err);

	if (rc == 0)
		rc = see_holders(s, &call, &seen, deadline, err);
	if (rc != 0)
		return rc;
	args[1].len = seen.len - RD_TOKEN_LEN;
	call.args = args;
	call.n_args = s->plain ? 2 : 1;
	return dlki_redis_script_number(s, &call, deadline, &done, err);
}

/* ---- List ---------------------------------------------------------------- */

/* One step of SCAN; the cursor is 0 again after the last. */
static int scan_step(struct redis_conn *c, struct redis_found *f,
		     dlk_time deadline, struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct redis_commands out;
	int keep, rc;

	dlki_redis_commands_init(&out);
	dlki_redis_found_scan(f, &out);
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
	if (rc != 0)
		return rc;
	if (reply->type == RD_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.peer,
					&keep, err);
	switch (dlki_redis_found_add(f, reply)) {
	case 0:
		return 0;
	case DLOCK_ENOMEM:
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	default:
		return dlki_redis_conn_nonsense(c, err);
	}
}

struct list_callback {
	void (*each)(const struct dlock_lock_info *info, void *arg);
	void *arg;
};

/* Ask about the next ones, and report those that are in use. */
static int describe_batch(struct redis_conn *c, struct redis_found *f,
			  const struct list_callback *callback,
			  dlk_time deadline, struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct dlock_lock_info info;
	struct redis_commands out;
	char name[256];
	size_t n;
	int keep, rc;

	dlki_redis_commands_init(&out);
	n = dlki_redis_found_describe(f, &out);
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
		if (rc != 0)
			break;
		switch (dlki_redis_found_described(f, reply, &info, name)) {
		case RD_FOUND_LOCK:
			callback->each(&info, callback->arg);
			break;
		case RD_FOUND_FAULT:
			return dlki_redis_fault(reply->text, reply->len,
						c->net.peer, &keep, err);
		default:
			break;
		}
	}
	return rc;
}

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_conn *c = (struct redis_conn *)dlk_pool_take(
		s->pool, deadline, NULL, err);
	struct list_callback callback = { .each = each, .arg = arg };
	struct redis_found f;
	int rc = 0;

	if (!c)
		return err->code;
	dlki_redis_found_init(&f, dlk_param_text(base->uri, "prefix"));
	while (rc == 0 && !f.whole)
		rc = scan_step(c, &f, deadline, err);
	while (rc == 0 && f.described < f.n)
		rc = describe_batch(c, &f, &callback, deadline, err);
	dlki_redis_conn_put(s, c, rc == 0);
	dlki_redis_found_free(&f);
	return rc;
}
