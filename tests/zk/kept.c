/* SPDX-License-Identifier: Apache-2.0 */
/* Kept claims, and claims that are passed: the tokens, and the end. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "support/ticket.h"

TestSuite(zk_kept, .timeout = 120);

#define DIR "/dlock/lnx"
#define PARAMS "?ttl=30s&ask=5s"
#define KEEP PARAMS "&keep=15s"

/* ---- Ranges of tokens ---------------------------------------------------- */

/* The range is in the past by the clock, too. */
SHARED(zk_kept, tokens_lie_before_the_next_claim_s)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l = mutex(client(s->port, PARAMS), "x");
	uint64_t token, last;
	struct ticket t;

	for (int i = 0; i < 20; i++) {
		ticket_take(&t, c);
		CHECK_INT(ticket_watch(&t), ==, 0);
		token = t.base.token;
		last = ticket_last(&t);
		CHECK(last > token);
		CHECK(last <= wall_us());
		ticket_give(&t);
		CHECK(taken(l) > last);
	}
}

SHARED(zk_kept, tokens_are_had_again_and_again)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_lock *l = mutex(client(s->port, PARAMS), "x");
	uint64_t last;
	struct ticket t;

	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	for (int i = 0; i < 200; i++) {
		last = t.base.token_used = ticket_last(&t);
		CHECK_INT(ticket_watch(&t), ==, 0);
		CHECK(ticket_last(&t) > last);
	}
	/* While many tokens are left, the store writes no anchor. */
	EVENTUALLY(wall_us() > last + 500000);
	CHECK_INT(ticket_watch(&t), ==, 0);
	last = ticket_last(&t);
	for (int i = 0; i < 10; i++) {
		CHECK_INT(ticket_watch(&t), ==, 0);
		CHECK_INT(ticket_last(&t), ==, last);
	}
	ticket_give(&t);
	CHECK(taken(l) > last);
}

/* Time passes between the claim and the other client's request: the claim has
 * the tokens in between if there was an anchor. */
SHARED(zk_kept, tokens_end_before_a_waiter_s)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	dlock_lock *else_where = mutex(d, "y");
	uint64_t token, last;
	struct ticket t, other;

	for (int anchors = 0; anchors < 2; anchors++) {
		ticket_take(&t, c);
		token = t.base.token;
		if (anchors)
			EVENTUALLY(taken(else_where) > token + 200000);
		ticket_queue(&other, d, DLK_EXCLUSIVE);
		CHECK_INT(ticket_watch(&t), ==, 1);
		last = ticket_last(&t);
		if (anchors)
			CHECK(last > token + 100000);
		ticket_give(&t);
		EVENTUALLY(ticket_ask(&other) == DLK_GRANTED);
		CHECK(last >= token);
		CHECK(last < other.base.token);
		ticket_give(&other);
	}
}

/* The last two anchors do not tell the waiter's token. */
SHARED(zk_kept, tokens_are_none_if_the_waiter_s_is_not_known)
{
	dlock_client *c = client(s->port, PARAMS);
	dlock_client *d = client(s->port, PARAMS);
	dlock_lock *else_where = mutex(d, "y");
	struct ticket t, other;
	uint64_t token;

	ticket_take(&t, c);
	ticket_queue(&other, d, DLK_EXCLUSIVE);
	token = t.base.token;
	/* Two anchors are made behind the waiter's node. */
	for (int i = 0; i < 2; i++) {
		uint64_t from = taken(else_where);

		EVENTUALLY(taken(else_where) > from + 300000);
	}
	CHECK_INT(ticket_watch(&t), ==, 1);
	CHECK_INT(ticket_last(&t), ==, token);
	ticket_give(&t);
	EVENTUALLY(ticket_ask(&other) == DLK_GRANTED);
	CHECK(other.base.token > token);
	ticket_give(&other);
}

/* ---- Waiters of the holder's session ------------------------------------- */

struct own {
	dlock_client *c;
	struct ticket t, waiter;
	uint64_t last, token; /* the end of t's range; the waiter's token */
};

/* Take the lock with a range past the token of the waiter's node. */
static void begin(struct own *o, dlock_client *c)
{
	o->c = c;
	ticket_take(&o->t, c);
	ticket_queue(&o->waiter, c, DLK_SHARED);
	CHECK_INT(ticket_watch(&o->t), ==, 0);
	o->last = ticket_last(&o->t);
	o->token = o->waiter.zk.token;
	CHECK(o->token > o->t.base.token);
	CHECK(o->last >= o->token);
}

static uint64_t turn_of(struct own *o)
{
	EVENTUALLY(ticket_ask(&o->waiter) == DLK_GRANTED);
	return o->waiter.base.token;
}

CASE(zk_kept, an_own_waiter_that_is_overtaken_has_another_token)
{
	static struct own o;

	begin(&o, client(shared_server()->port, PARAMS));
	o.t.base.token_used = o.last;
	ticket_give(&o.t);
	CHECK(turn_of(&o) > o.last);
	ticket_give(&o.waiter);
}

/* The waiter's deadline comes with the turn: there is no later attempt. */
CASE(zk_kept, an_own_waiter_that_is_overtaken_has_the_lock_at_the_deadline)
{
	static struct own o;

	begin(&o, client(shared_server()->port, PARAMS));
	o.t.base.token_used = o.last;
	ticket_give(&o.t);
	o.waiter.base.last = 1;
	CHECK_INT(ticket_ask(&o.waiter), ==, DLK_GRANTED);
	CHECK(o.waiter.base.token > o.last);
	CHECK_INT(o.waiter.lost, ==, 0);
	ticket_give(&o.waiter);
}

CASE(zk_kept, an_own_waiter_that_is_not_overtaken_has_its_place)
{
	static struct own o;

	begin(&o, client(shared_server()->port, PARAMS));
	ticket_give(&o.t);
	CHECK(turn_of(&o) == o.token);
	ticket_give(&o.waiter);
}

/* A node of another session stands behind the waiter's, and would have the
 * waiter's turn. */
SHARED(zk_kept, an_own_waiter_before_another_session_is_not_overtaken)
{
	dlock_client *c = client(s->port, PARAMS);
	struct ticket t, ours, theirs;
	uint64_t token;

	ticket_take(&t, c);
	ticket_queue(&ours, c, DLK_EXCLUSIVE);
	ticket_queue(&theirs, client(s->port, PARAMS), DLK_EXCLUSIVE);
	token = ours.zk.token;
	CHECK_INT(ticket_watch(&t), ==, 1);
	CHECK(ticket_last(&t) < token);
	t.base.token_used = ticket_last(&t);
	ticket_give(&t);
	EVENTUALLY(ticket_ask(&ours) == DLK_GRANTED);
	CHECK(ours.base.token == token);
	CHECK_INT(ticket_ask(&theirs), ==, DLK_BUSY);
	ticket_give(&ours);
	ticket_turn(&theirs);
}

/* The backend does not know how many tokens the broken claim used. */
SHARED(zk_kept, an_own_waiter_does_not_trust_a_claim_that_was_broken)
{
	static struct own o;

	begin(&o, client(s->port, PARAMS));
	o.t.base.token_used = o.last;
	CHECK_OK(dlock_break(mutex(client(s->port, PARAMS), "x"), PATIENCE));
	CHECK(turn_of(&o) > o.last);
	CHECK_INT(ticket_release(&o.t), ==, DLOCK_ELOST);
	ticket_give(&o.waiter);
}

/* ---- Users --------------------------------------------------------------- */

/* The user may not write anchors, and has the range up to others' anchors. */
SHARED(zk_kept, tokens_need_an_anchor)
{
	dlock_client *app = NULL, *other;
	char uri[512];
	struct ticket t;
	uint64_t last;

	make("/dlock"); /* open to all */
	uri_as(uri, "app:sesame@", s->port, "?ask=5s");
	CHECK_OK(dlock_open(&app, uri, NULL));
	taken(mutex(app, "app's"));
	other = client(s->port, PARAMS);
	ticket_take(&t, other);
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK_INT(ticket_last(&t), ==, t.base.token);
	last = ticket_last(&t);
	EVENTUALLY(taken(mutex(app, "app's too")) > last + 1000);
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(ticket_last(&t) > last);
	last = ticket_last(&t);
	ticket_give(&t);
	CHECK(taken(mutex(other, "x")) > last);
	dlock_close(app);
}

/* ---- Kept claims --------------------------------------------------------- */

/* The pairs use more tokens than the first range has. */
OWN(zk_kept, a_lock_that_is_kept_costs_next_to_nothing)
{
	enum { PAIRS = 20000 };
	dlock_client *c = client(s->port, KEEP);
	dlock_lock *l = mutex(c, "x");
	uint64_t last = taken(l), attempts = stats(c).attempts;
	int64_t before = lab_zk_number(s, "srvr", "Received");

	for (int i = 0; i < PAIRS; i++) {
		uint64_t token = taken(l);

		CHECK(token > last);
		last = token;
	}
	CHECK_INT(stats(c).attempts, ==, attempts);
	CHECK_INT(stats(c).retaken, ==, PAIRS);
	CHECK_INT(lab_zk_number(s, "srvr", "Received") - before, <, PAIRS / 10);
	CHECK(taken(mutex(client(s->port, PARAMS), "x")) > last);
	EVENTUALLY(stats(c).kept == 0);
}

/* Have the claim kept, and return the last token.  A lock that was wanted is
 * not kept for a moment. */
static uint64_t kept(dlock_client *c, dlock_lock *l)
{
	uint64_t last = taken(l);

	EVENTUALLY((last = taken(l)) != 0 && stats(c).kept == 1);
	return last;
}

/* The session has ended, and tokens go on from the clock. */
OWN(zk_kept, until_the_server_forgets_it)
{
	dlock_client *c = client(s->port, "?ttl=4s&ask=2s&keep=2s");
	dlock_lock *l = mutex(c, "x");
	uint64_t last;

	last = kept(c, l);
	CHECK_INT(lab_server_restart(s, false), ==, 0);
	EVENTUALLY(stats(c).kept == 0);
	CHECK(taken(l) > last);
	CHECK(taken(mutex(client(s->port, PARAMS), "x")) > last);
}

/* ... or the whole directory. */
SHARED(zk_kept, until_its_node_is_deleted)
{
	dlock_client *c = client(s->port, KEEP);
	dlock_lock *l = mutex(c, "x");
	dlock_lock *other = mutex(client(s->port, PARAMS), "x");
	char name[256] = "";
	uint64_t last;

	for (int i = 0; i < 4; i++) {
		last = kept(c, l);
		CHECK_INT(children(DIR, name), ==, 1);
		drop(DIR, name);
		if (i % 2)
			drop("/dlock", "lnx");
		CHECK(taken(other) > last);
		EVENTUALLY(stats(c).kept == 0);
	}
}
