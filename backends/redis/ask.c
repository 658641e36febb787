/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"
#include "redis_scripts.h"

enum { SHA1_LEN = 40 };

static const struct script {
	const char *sha1;
	const char *text;
	size_t len;
	int grants; /* and wants to know how far tokens have come */
} scripts[] = {
#define SCRIPT(name, grants)                                                   \
	{                                                                      \
		name##_sha1, name##_text, sizeof(name##_text) - 1, grants      \
	}
	[REDIS_TAKE_EXCLUSIVE] = SCRIPT(take_exclusive, 1),
	[REDIS_TAKE_SHARED] = SCRIPT(take_shared, 1),
	[REDIS_RELEASE] = SCRIPT(release, 1),
	[REDIS_RELEASE_MUTEX] = SCRIPT(release_mutex, 1),
	[REDIS_RENEW] = SCRIPT(renew, 0),
	[REDIS_DOWNGRADE] = SCRIPT(downgrade, 1),
	[REDIS_BREAK] = SCRIPT(break, 1),
	[REDIS_INSPECT] = SCRIPT(inspect, 0),
	[REDIS_DESCRIBE] = SCRIPT(describe, 0),
#undef SCRIPT
};

void dlki_redis_call(const struct redis_session *s, struct redis_out *o,
		     const struct redis_request *request, int whole)
{
	const struct script *script = &scripts[request->verb];

	dlki_redis_out_words(o, (script->grants ? 5 : 4) + request->n);
	if (whole) {
		dlki_redis_out_word(o, "EVAL", 4);
		dlki_redis_out_word(o, script->text, script->len);
	} else {
		dlki_redis_out_word(o, "EVALSHA", 7);
		dlki_redis_out_word(o, script->sha1, SHA1_LEN);
	}
	dlki_redis_out_word(o, script->grants ? "2" : "1", 1);
	dlki_redis_out_word(o, request->key.text, request->key.len);
	if (script->grants)
		dlki_redis_out_word(o, s->clock, s->clock_len);
	for (size_t i = 0; i < request->n; i++)
		dlki_redis_out_word(o, request->args[i].text,
				    request->args[i].len);
}

void dlki_redis_done(struct redis_session *s, struct redis_conn *c, int good)
{
	dlki_pool_give(s->pool, &c->pooled,
		       good && dlki_redis_reader_empty(&c->reader));
}

int dlki_redis_nonsense(struct redis_session *s, struct redis_conn *c,
			struct dlk_error *err)
{
	int rc = dlk_fail(err, DLOCK_EPROTO,
			  "%s answered what we do not understand", c->net.who);

	dlki_redis_done(s, c, 0);
	return rc;
}

static int exchange(const struct redis_session *s, struct redis_conn *c,
		    const struct redis_request *request, int whole,
		    dlk_time deadline, const struct redis_reply **reply,
		    struct dlk_error *err)
{
	struct redis_out o;
	int rc;

	dlki_redis_out_init(&o);
	dlki_redis_call(s, &o, request, whole);
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	if (rc == 0)
		rc = dlki_redis_hear(c, reply, deadline, err);
	return rc;
}

/* On this connection; *good: it may be used again. */
static int ask_on(const struct redis_session *s, struct redis_conn *c,
		  struct redis_request *request, dlk_time deadline, int *good,
		  const struct redis_reply **reply, struct dlk_error *err)
{
	int rc = exchange(s, c, request, 0, deadline, reply, err);

	request->settled = *good = rc == 0;
	if (rc != 0 || (*reply)->type != REDIS_ERROR)
		return rc;
	if (dlki_redis_fault_is((*reply)->text, "NOSCRIPT")) {
		rc = exchange(s, c, request, 1, deadline, reply, err);
		request->settled = *good = rc == 0;
		if (rc != 0 || (*reply)->type != REDIS_ERROR)
			return rc;
	}
	return dlki_redis_fault((*reply)->text, (*reply)->len, c->net.who, good,
				err);
}

int dlki_redis_ask(struct redis_session *s, struct redis_request *request,
		   dlk_time deadline, struct redis_conn **conn,
		   const struct redis_reply **reply, struct dlk_error *err)
{
	request->settled = 1;
	for (;;) {
		int fresh = 1;
		int good = 0;
		struct redis_conn *c = (struct redis_conn *)dlki_pool_take(
			s->pool, deadline, &fresh, err);
		int rc;

		if (!c)
			return err->code;
		rc = ask_on(s, c, request, deadline, &good, reply, err);
		if (rc == 0) {
			*conn = c;
			return 0;
		}
		dlki_redis_done(s, c, good);
		if (good || fresh || rc != DLOCK_EUNREACHABLE ||
		    dlk_now() >= deadline)
			return rc;
		/* The server closed it while it was idle, and most likely all
		 * others. */
		dlki_pool_renew(s->pool);
		request->twice = 1;
	}
}
