/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/notify.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"
#include "backends/redis/waiters.h"

/* How often a waiter without a notification channel tries again. */
enum { UNNOTIFIED_MS = 100 };

static enum dlk_verdict fail_attempt(const struct dlk_request *request,
				     const struct redis_attempt_answer *answer,
				     struct dlk_error *err)
{
	switch (answer->type) {
	case RD_LIMIT:
		dlk_fail(err, DLOCK_EINVAL,
			 "semaphore '%s' has %u permits, not %u", request->name,
			 (unsigned int)answer->limit,
			 (unsigned int)request->limit);
		break;
	case RD_ENDLESS:
		dlk_fail(
			err, DLOCK_EPROTO,
			"'%s': the holder's key has lost its expiry; break the "
			"lock to free it",
			request->name);
		break;
	default:
		dlk_fail(err, DLOCK_EPROTO,
			 "'%s': its key holds something that is not dlock's "
			 "and never expires; remove it, or use another prefix",
			 request->name);
	}
	return DLK_FAILED;
}

/* The core polls, at the end of the holder's lease at the latest: a message
 * comes only for what clients of dlock release. */
static enum dlk_verdict poll_again(struct redis_ticket *t, int64_t left_ms)
{
	t->base.look_again = 0;
	if (left_ms > 0 && left_ms <= t->base.session->poll_min_ms)
		t->base.look_again = dlk_now() + left_ms * DLK_MS;
	return DLK_BUSY;
}

static enum dlk_verdict accept_answer(struct redis_ticket *t,
				      const struct redis_attempt_answer *answer,
				      struct dlk_error *err)
{
	const struct redis_session *s = (struct redis_session *)t->base.session;
	int64_t ttl_ms = t->base.session->ttl_ms;
	int64_t wait_ms;

	switch (answer->type) {
	case RD_GRANTED:
		t->base.token = answer->token;
		t->lease_from = t->base.since;
		t->lease_heard = dlk_now();
		t->granted = 1;
		t->pushed = 0;
		return DLK_GRANTED;
	case RD_BUSY:
		wait_ms = answer->wait_ms;
		if (s->plain)
			return poll_again(t, wait_ms);
		if (wait_ms == 0 || wait_ms > ttl_ms / 3)
			wait_ms = ttl_ms / 3 > 0 ? ttl_ms / 3 : 1;
		t->base.look_again = dlk_now() + wait_ms * DLK_MS;
		return DLK_BUSY;
	default:
		return fail_attempt(&t->base.request, answer, err);
	}
}

static enum redis_script attempt_script(const struct redis_session *s,
					const struct dlk_request *request)
{
	if (s->plain)
		return RD_ATTEMPT_PLAIN;
	return request->mode == DLK_SHARED ? RD_ATTEMPT_SHARED :
					     RD_ATTEMPT_EXCLUSIVE;
}

static enum dlk_verdict ask_server(struct redis_ticket *t, uint64_t attempt,
				   dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	const struct dlk_request *request = &t->base.request;
	struct redis_arg ttl = { s->ttl, s->ttl_len };
	char payload[RD_PAYLOAD_SIZE], record[RD_RECORD_SIZE];
	struct redis_arg args[] = {
		{ request->owner, RD_OWNER_LEN },
		ttl,
		dlki_redis_payload(request, ttl, s->label_len, payload),
		dlki_redis_wait_record(s->order, request, attempt, s->channel,
				       record),
	};
	struct redis_call call = {
		.script = attempt_script(s, request),
		.key = dlki_redis_ticket_key(t),
		.plain = dlki_redis_plain_key(s, request),
		.args = args,
		.n_args = 4,
	};
	const struct redis_reply *reply;
	struct redis_attempt_answer answer;
	struct redis_conn *c;
	int rc;

	rc = dlki_redis_script_call(s, &call, deadline, &c, &reply, err);
	t->base.settled = call.settled && !call.twice;
	t->base.resent |= call.twice;
	t->base.crowded = call.crowded;
	t->asked |= call.sent != 0;
	if (rc != 0)
		return DLK_FAILED;
	/* Not from before the wait for a connection. */
	t->base.since = call.sent;
	answer = dlki_redis_attempt_answer(reply);
	if (answer.type == RD_NONSENSE) {
		t->base.settled = 0;
		dlki_redis_conn_put_nonsense(s, c, err);
		return DLK_FAILED;
	}
	dlki_redis_conn_put(s, c, 1);
	return accept_answer(t, &answer, err);
}

/*
 * The first attempt that is BUSY has the notification channel opened, and asks
 * again when it is up, to learn what changed before it was.  But BUSY is an
 * answer, and must not turn into a failure for want of time: the second
 * question, and a release after it, must each have as long as the first took.
 */
enum dlk_verdict dlki_redis_attempt(struct dlk_ticket *base, dlk_time deadline,
				    struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;

	if (dlki_redis_session_check(s, &base->request, err) != 0)
		return DLK_FAILED;
	for (int pass = 0;; pass++) {
		dlk_time begun = dlk_now();
		enum dlk_verdict verdict;
		dlk_time latest;
		uint64_t attempt;
		int was_listed;

		if (dlki_redis_waiter_attempt(t, &attempt)) {
			t->lease_from = 0;
			t->granted = t->pushed = 1;
			return DLK_GRANTED;
		}
		was_listed = t->listed;
		verdict = ask_server(t, attempt, deadline, err);
		if (verdict != DLK_BUSY)
			return verdict;
		latest = deadline - 2 * (dlk_now() - begun);
		if (!dlki_redis_notify_up(s, latest)) {
			dlk_time next = dlk_now() + UNNOTIFIED_MS * DLK_MS;

			if (!s->plain && next < base->look_again)
				base->look_again = next;
			return verdict;
		}
		if (was_listed || pass > 0)
			return verdict;
		if (dlk_now() >= latest) {
			base->look_again = dlk_now();
			return verdict;
		}
	}
}
