/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/redis.h"

#include <stdio.h>
#include <string.h>

enum { UNHEARD_MS = 100 };

/* ---- Asking -------------------------------------------------------------- */

static enum dlk_verdict refuse(const struct dlk_claim *claim,
			       const struct redis_taken *taken,
			       struct dlk_error *err)
{
	switch (taken->answer) {
	case REDIS_LIMIT:
		dlk_fail(err, DLOCK_EINVAL,
			 "semaphore '%s' has %u permits, not %u", claim->name,
			 (unsigned int)taken->limit,
			 (unsigned int)claim->limit);
		break;
	case REDIS_ENDLESS:
		dlk_fail(err, DLOCK_EPROTO,
			 "'%s': somebody took the expiry off the holder's key; "
			 "break the lock to free it",
			 claim->name);
		break;
	default:
		dlk_fail(err, DLOCK_EPROTO,
			 "'%s': its key holds something that is not dlock's "
			 "and never expires; remove it, or use another prefix",
			 claim->name);
	}
	return DLK_FAILED;
}

static enum dlk_verdict answered(struct redis_ticket *t,
				 const struct redis_taken *taken,
				 struct dlk_error *err)
{
	int64_t ttl_ms = t->base.session->ttl_ms;
	int64_t wait_ms;

	switch (taken->answer) {
	case REDIS_GRANTED:
		t->base.token = taken->token;
		t->lease_from = t->base.since;
		t->lease_heard = dlk_now();
		t->granted = 1;
		return DLK_GRANTED;
	case REDIS_BUSY:
		wait_ms = taken->wait_ms;
		if (wait_ms == 0 || wait_ms > ttl_ms / 3)
			wait_ms = ttl_ms / 3 > 0 ? ttl_ms / 3 : 1;
		t->base.look_again = dlk_now() + wait_ms * REDIS_MS;
		return DLK_BUSY;
	default:
		return refuse(&t->base.claim, taken, err);
	}
}

/* "f x 0 1 dlock:inbox:...".  Readers that overtake would starve writers, also
 * one that is out of the line, on its way to look. */
static struct redis_word manner(const struct redis_session *s,
				const struct dlk_claim *claim, uint64_t look,
				char out[200])
{
	size_t n = 4;
	size_t inbox = strlen(s->inbox);

	out[0] = claim->kind == DLK_RWLOCK ? 'f' : s->order;
	out[1] = ' ';
	out[2] = claim->mode == DLK_SHARED ? 's' : 'x';
	out[3] = ' ';
	n += dlki_redis_digits(out + n, claim->limit);
	out[n++] = ' ';
	n += dlki_redis_digits(out + n, look);
	out[n++] = ' ';
	memcpy(out + n, s->inbox, inbox);
	return (struct redis_word){ out, n + inbox };
}

static enum dlk_verdict look(struct redis_ticket *t, uint64_t number,
			     dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	const struct dlk_claim *claim = &t->base.claim;
	char tail[520], how[200];
	struct redis_word args[] = {
		{ claim->owner, REDIS_ID_SIZE - 1 },
		{ s->ttl, s->ttl_len },
		dlki_redis_tail(s, claim, tail),
		manner(s, claim, number, how),
	};
	struct redis_request request = { claim->mode == DLK_SHARED ?
						 REDIS_TAKE_SHARED :
						 REDIS_TAKE_EXCLUSIVE,
					 dlki_redis_ticket_key(t),
					 args,
					 4,
					 0,
					 0 };
	const struct redis_reply *reply;
	struct redis_taken taken;
	struct redis_conn *c;

	int rc;

	t->asked = 1;
	rc = dlki_redis_ask(s, &request, deadline, &c, &reply, err);
	t->base.settled = request.settled && !request.twice;
	if (rc != 0)
		return DLK_FAILED;
	taken = dlki_redis_taken(reply);
	if (taken.answer == REDIS_NONSENSE) {
		t->base.settled = 0;
		dlki_redis_nonsense(s, c, err);
		return DLK_FAILED;
	}
	dlki_redis_done(s, c, 1);
	return answered(t, &taken, err);
}

/*
 * The first that is BUSY has the inbox opened, and looks once more when that is
 * up: what changed before it could hear of it, a look tells.  But BUSY is an
 * answer, and must not become none for want of time: that look, and giving up
 * after it, are to have as long as the first one took.
 */
static enum dlk_verdict redis_attempt(struct dlk_ticket *base,
				      dlk_time deadline, struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = (struct redis_session *)base->session;

	for (int pass = 0;; pass++) {
		dlk_time begun = dlk_now();
		enum dlk_verdict verdict;
		dlk_time latest;
		uint64_t number;
		int could_hear;

		if (dlki_redis_inbox_look(t, &number)) {
			t->lease_from = 0;
			t->granted = 1;
			return DLK_GRANTED;
		}
		could_hear = t->listed;
		verdict = look(t, number, deadline, err);
		if (verdict != DLK_BUSY)
			return verdict;
		latest = deadline - 2 * (dlk_now() - begun);
		if (!dlki_redis_inbox_up(s, latest)) {
			dlk_time next = dlk_now() + UNHEARD_MS * REDIS_MS;

			if (next < base->look_again)
				base->look_again = next;
			return verdict;
		}
		if (could_hear || pass > 0)
			return verdict;
		if (dlk_now() >= latest) {
			base->look_again = dlk_now();
			return verdict;
		}
	}
}

/* ---- Giving up ----------------------------------------------------------- */

/* A script that answers a number.  1: as 0, but it may have run before. */
static int tell(struct redis_ticket *t, enum redis_verb verb,
		const struct redis_word *args, size_t n, dlk_time deadline,
		int64_t *out, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	const struct redis_reply *reply;
	struct redis_conn *c;
	struct redis_request request = { verb, dlki_redis_ticket_key(t),
					 args, n,
					 0,    0 };
	int rc = dlki_redis_ask(s, &request, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (!dlki_redis_number(reply, 0, out))
		return dlki_redis_nonsense(s, c, err);
	dlki_redis_done(s, c, 1);
	return request.twice;
}

/* The key keeps the token until a second after the clock has passed it. */
static size_t end_of(const struct redis_ticket *t, char mark[52],
		     char token[24], char until[24], struct redis_word args[3])
{
	size_t len = dlki_redis_digits(token, t->base.token);

	memcpy(mark, "0 ", 2);
	memcpy(mark + 2, t->base.claim.owner, REDIS_ID_SIZE - 1);
	args[0] = (struct redis_word){ mark, REDIS_ID_SIZE + 1 };
	if (len != REDIS_TOKEN_LEN)
		return 1;
	mark[34] = ' ';
	memcpy(mark + 35, token, REDIS_TOKEN_LEN);
	args[0].len += 1 + REDIS_TOKEN_LEN;
	args[1] = (struct redis_word){ token, REDIS_TOKEN_LEN };
	args[2] = (struct redis_word){
		until, dlki_redis_digits(until, t->base.token / 1000 + 1000)
	};
	return 3;
}

static int redis_release(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	char mark[52], token[24], until[24];
	struct redis_word args[3];
	int granted = t->granted;
	int64_t had;
	int rc;

	dlki_redis_inbox_forget(t);
	t->granted = 0;
	if (!t->asked)
		return 0;
	rc = tell(t,
		  base->claim.kind == DLK_MUTEX ? REDIS_RELEASE_MUTEX :
						  REDIS_RELEASE,
		  args, end_of(t, mark, token, until, args), deadline, &had,
		  err);
	if (rc == 0 && granted && !had)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return rc > 0 ? 0 : rc;
}

static int redis_downgrade(struct dlk_ticket *base, dlk_time deadline,
			   struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	const struct redis_session *s = (struct redis_session *)base->session;
	char tail[520], grant[52];
	struct redis_word args[] = {
		dlki_redis_grant(t, grant),
		{ s->ttl, s->ttl_len },
		dlki_redis_tail(s, &base->claim, tail),
	};
	int64_t done = 0;
	int rc = tell(t, REDIS_DOWNGRADE, args, 3, deadline, &done, err);

	if (rc < 0)
		return rc;
	t->lease_from = 0;
	if (!done)
		return dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	base->claim.mode = DLK_SHARED;
	return 0;
}

/* ---- The backend --------------------------------------------------------- */

static const char *const schemes[] = { "redis", "valkey", "redis+unix", NULL };

static const struct dlk_param params[] = {
	{ "db", DLK_NUMBER, "0", 0, 65535, NULL,
	  "The database, where the path is not /N." },
	{ "order", DLK_CHOICE, "fair", 0, 0, "fair|any",
	  "Who is next: the one that waits longest, or whoever is quickest." },
	{ "pool", DLK_NUMBER, "16", 1, 1024, NULL,
	  "Most connections at once, beside the one that waiters share." },
	{ "client_name", DLK_TEXT, NULL, 1, 64, NULL,
	  "What CLIENT LIST calls our connections." },
	{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL,
	  "A file, readable by its owner only, whose first line is the "
	  "password." },
	{ 0 }
};

const struct dlock_backend dlki_redis_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "a Redis or Valkey server",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FAIR |
		DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE | DLOCK_CAP_INSPECT |
		DLOCK_CAP_LIST,
	.params = params,
	.session_size = sizeof(struct redis_session),
	.ticket_size = sizeof(struct redis_ticket),
	.open = dlki_redis_open,
	.close = dlki_redis_close,
	.attempt = redis_attempt,
	.renew = dlki_redis_renew,
	.release = redis_release,
	.downgrade = redis_downgrade,
	.inspect = dlki_redis_inspect,
	.list = dlki_redis_list,
	.break_ = dlki_redis_break,
};
