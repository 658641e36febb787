/* SPDX-License-Identifier: Apache-2.0 */
/* Replies, and the requests to which they belong. */
#include <string.h>

#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/fault.h"
#include "backends/redis/protocol/store.h"

/* Take a number: whether the claim, or the lock, stood. */
static enum redis_taken take_number(struct redis_store *s,
				    const struct redis_answer *a)
{
	int64_t stood;

	(void)s;
	if (!dlki_redis_number(a->reply, 0, &stood))
		return RD_SENSELESS;
	dlki_answered(a->op, stood != 0);
	return RD_TAKEN;
}

static redis_take_fn *const take[DLKI_VERBS] = {
	[DLKI_ATTEMPT] = dlki_redis_store_attempted,
	[DLKI_RENEW] = dlki_redis_store_renewed,
	[DLKI_RELEASE] = take_number,
	[DLKI_DOWNGRADE] = take_number,
	[DLKI_WATCH] = dlki_redis_store_watched,
	[DLKI_REVOKE] = take_number,
	[DLKI_BREAK] = dlki_redis_store_broken,
	[DLKI_INSPECT] = dlki_redis_store_inspected,
	[DLKI_RESIZE] = take_number,
	[DLKI_LIST] = dlki_redis_store_listed,
};

/* Take an error.  A script unknown to the server was not run. */
static enum redis_taken take_error(struct redis_store *s,
				   const struct redis_answer *a)
{
	if (!dlki_redis_fault_is(a->reply->text, "NOSCRIPT"))
		return dlki_redis_store_fault(s, a);
	memset(s->knows, 0, sizeof(s->knows));
	dlki_again(a->op);
	return RD_TAKEN;
}

/* End the op of the earliest request, to which the bytes are no answer.  For
 * other ops on the connection, a new connection is the cure. */
static int end_front(const struct redis_store *s, struct dlk_error *err)
{
	struct dlki_front front;

	dlki_senseless(dlki_front_op(s->main.link), err);
	if (dlki_front(s->main.link, &front) && front.verb != DLKI_GREET)
		err->code = DLOCK_EUNREACHABLE;
	return err->code;
}

/* Miss an answer: this answer is to another request. */
static int miss_answer(const struct redis_store *s, struct dlk_error *err)
{
	return dlki_peer_fail(s->main.link, err, DLOCK_EUNREACHABLE,
			      "%s did not answer a request");
}

static int take_op_answer(struct redis_store *s, const struct dlki_front *front,
			  const struct redis_answer *a)
{
	enum redis_taken taken;

	if (a->reply->type == RD_ERROR && front->verb != DLKI_LIST)
		taken = take_error(s, a);
	else
		taken = take[front->verb](s, a);
	switch (taken) {
	case RD_TAKEN:
		if (!a->op && front->verb != DLKI_LIST)
			dlki_answered_late(&s->base, a->since);
		dlki_pop(s->main.link);
		return 0;
	case RD_TAKEN_IN_PART:
		return 0;
	case RD_CUT:
		return a->err->code;
	default:
		if (!a->op)
			return miss_answer(s, a->err);
		dlki_peer_fail(s->main.link, a->err, DLOCK_EPROTO,
			       RD_IS_NOT_UNDERSTOOD);
		return end_front(s, a->err);
	}
}

static int take_answer(struct redis_store *s, const struct redis_reply *reply,
		       struct dlk_error *err)
{
	struct dlki_link *l = s->main.link;
	struct redis_answer a = { .reply = reply, .err = err };
	struct dlki_front front;

	if (!dlki_front(l, &front))
		return dlk_fail(err, DLOCK_EPROTO,
				"an answer that nobody asked for");
	if (front.verb == DLKI_GREET)
		return dlki_redis_store_greeted(s, &s->main, reply, err);
	if (front.verb == DLKI_PING) {
		/* An error: the user is not permitted to send PING. */
		if (reply->type != RD_ERROR &&
		    (reply->type != RD_STRING ||
		     strcmp(reply->text, "PONG") != 0))
			return miss_answer(s, err);
		dlki_pop(l);
		return 0;
	}
	a.op = dlki_front_op(l);
	a.since = front.since;
	return take_op_answer(s, &front, &a);
}

/* Refuse bytes that are no reply of Redis. */
static int take_noise(const struct redis_store *s, const struct redis_line *l,
		      struct dlk_error *err)
{
	char peer[DLKI_PEER];
	struct dlk_error why = *err;

	if (dlki_redis_store_noise(l, err) == 0)
		return 0;
	dlki_peer(l->link, peer);
	dlk_fail(err, why.code, "%s: %s", peer, why.text);
	return l == &s->main ? end_front(s, err) : err->code;
}

int dlki_redis_store_input(struct redis_store *s, struct redis_line *line,
			   const char *bytes, size_t n, struct dlk_error *err)
{
	const struct redis_reply *reply;
	int rc = dlki_redis_reader_feed(&line->reader, bytes, n, err);

	line->heard = s->now;
	if (rc != 0)
		return take_noise(s, line, err);
	while (rc == 0) {
		rc = dlki_redis_reader_next(&line->reader, &reply, err);
		if (rc == 0)
			break;
		if (rc != 1)
			return take_noise(s, line, err);
		if (line == &s->main)
			rc = take_answer(s, reply, err);
		else if (dlki_redis_store_message(s, reply))
			rc = 0;
		else
			rc = dlki_redis_store_greeted(s, line, reply, err);
	}
	if (line == &s->ear)
		dlki_redis_store_listen(s);
	return rc;
}
