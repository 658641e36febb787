/* SPDX-License-Identifier: Apache-2.0 */
/* More verbs of the Redis protocol, with a real server. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "support/wait.h"
#include "tests/redis/protocol/side.h"

static void server_says(const char *command, const char *reply)
{
	char text[200];

	cr_assert_eq(lab_redis_do(server, text, sizeof(text), "%s", command),
		     0);
	cr_assert_str_eq(text, reply);
}

/* ---- Downgrade ----------------------------------------------------------- */

Test(redis_engine, a_downgrade_lets_the_readers_in, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, r, w;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&r, &side_b, 2, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&w, &side_b, 3, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&r);
	cr_assert_eq(claim_call(&c, DLKI_DOWNGRADE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	c.request.mode = DLK_SHARED;
	claim_await_push(&r);
	cr_assert_gt(r.token, c.token);
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&w, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_eq(claim_call(&c, DLKI_DOWNGRADE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1, "an answer may be lost");
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(claim_call(&r, DLKI_RELEASE), DLKI_ANSWERED);
	claim_await_push(&w);
	cr_assert_eq(claim_call(&c, DLKI_DOWNGRADE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
}

/* ---- Wanted -------------------------------------------------------------- */

Test(redis_engine, a_watched_claim_is_told_who_asks, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, d;
	uint64_t used;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(claim_call(&c, DLKI_WATCH), DLKI_ANSWERED);
	cr_assert_eq(side_a.looks, 1, "the ear listens already");
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(c.op.wanted, 0);
	cr_assert_gt(c.op.token_last, c.token);
	cr_assert_leq(c.op.token_last, c.token + 2 * DLK_TOKENS_AHEAD);
	used = c.token + 5;
	cr_assert_eq(claim_call(&d, DLKI_REVOKE), DLKI_ANSWERED);
	side_await(&side_a, &side_a.wanted, 1);
	cr_assert_str_eq(side_a.owner, c.owner);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_BUSY);
	side_await(&side_a, &side_a.wanted, 2);
	cr_assert_eq(claim_call(&c, DLKI_WATCH), DLKI_ANSWERED);
	cr_assert_eq(c.op.wanted, 1, "there is a waiter");
	c.op.token_used = used;
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_gt(d.token, used);
	cr_assert_eq(claim_call(&c, DLKI_WATCH), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(claim_call(&c, DLKI_REVOKE), DLKI_ANSWERED,
		     "nobody watches, and that is no failure");
}

/* ---- Break --------------------------------------------------------------- */

Test(redis_engine, a_broken_lock_passes_to_the_waiter, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, d;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_BREAK), DLKI_ANSWERED, "it is free");
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_ask_in_vain(&d);
	cr_assert_eq(claim_call(&d, DLKI_BREAK), DLKI_ANSWERED);
	side_await(&side_b, &side_b.looks, 1);
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_gt(d.token, c.token);
}

/* ---- Owners -------------------------------------------------------------- */

/* Nor does a claim of ours with another token count. */
Test(redis_engine, what_others_hold_is_left_alone, .init = side_setup,
     .fini = side_teardown)
{
	static const enum dlki_verb verbs[] = { DLKI_RENEW, DLKI_WATCH,
						DLKI_DOWNGRADE, DLKI_RELEASE };
	struct claim c, d, late;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	claim_prepare(&late, &side_b, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	late.token = c.token - 1;
	d.token = c.token;
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(claim_call(&d, verbs[i]), DLKI_ANSWERED);
		cr_assert_eq(d.op.stood, 0, "%d", i);
		if (verbs[i] == DLKI_RELEASE)
			break;
		cr_assert_eq(claim_call(&late, verbs[i]), DLKI_ANSWERED);
		cr_assert_eq(late.op.stood, 0, "%d", i);
	}
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_BUSY);
}

/* ---- Inspect and list ---------------------------------------------------- */

struct seen {
	int n;
	char text[400];
	uint64_t token;
};

static void see_participant(const struct dlock_participant *p, void *arg)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	s->n++;
	if (!p->waiting)
		s->token = p->token;
	snprintf(s->text + len, sizeof(s->text) - len, "%s %s %s;",
		 p->waiting ? "waits" : "holds", p->shared ? "s" : "x",
		 p->label);
}

static void see_lock(const struct dlock_lock_info *info, void *arg)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	if (s->n++ < 4)
		snprintf(s->text + len, sizeof(s->text) - len, "%s %s %u;",
			 info->kind, info->name, info->permits);
}

static struct seen inspect(struct side *side)
{
	struct seen seen = { 0 };
	struct claim any;

	claim_prepare(&any, side, 9, DLK_LOCK, DLK_EXCLUSIVE, 0);
	any.request.owner = NULL;
	any.op.each.participant = see_participant;
	any.op.each_arg = &seen;
	cr_assert_eq(claim_call(&any, DLKI_INSPECT), DLKI_ANSWERED, "%s",
		     any.error);
	return seen;
}

static struct seen list(struct side *side)
{
	struct seen seen = { 0 };
	struct claim any;

	claim_prepare(&any, side, 9, DLK_LOCK, DLK_EXCLUSIVE, 0);
	any.op.each.lock = see_lock;
	any.op.each_arg = &seen;
	cr_assert_eq(claim_call(&any, DLKI_LIST), DLKI_ANSWERED, "%s",
		     any.error);
	return seen;
}

Test(redis_engine, an_inspection_shows_holders_and_waiters, .init = side_setup,
     .fini = side_teardown)
{
	struct claim c, d;
	struct seen seen = inspect(&side_a);

	cr_assert_eq(seen.n, 0);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_SHARED, 0);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_BUSY);
	seen = inspect(&side_b);
	cr_assert_str_eq(seen.text, "holds x a test;waits s a test;");
	cr_assert_eq(seen.token, c.token);
}

Test(redis_engine, a_list_has_each_lock_in_use_once, .init = side_setup,
     .fini = side_teardown)
{
	enum { MANY = 600 };
	static struct claim many[MANY], s;
	static char names[MANY][16];
	struct seen seen = list(&side_a);

	cr_assert_eq(seen.n, 0);
	for (int i = 0; i < MANY; i++) {
		claim_prepare(&many[i], &side_a, i + 1, DLK_LOCK, DLK_EXCLUSIVE,
			      0);
		snprintf(names[i], sizeof(names[i]), "name%d", i);
		dlki_name_key(DLK_LOCK, names[i], many[i].key);
		many[i].request.name = names[i];
		claim_begin(&many[i], DLKI_ATTEMPT);
	}
	for (int i = 0; i < MANY; i++) {
		if (claim_end(&many[i]) == DLKI_AGAIN)
			claim_call(&many[i], DLKI_ATTEMPT);
		cr_assert_eq(many[i].op.outcome, DLKI_GRANTED);
	}
	seen = list(&side_a);
	cr_assert_eq(seen.n, MANY);
	/* Of these the keys remember their tokens, and are no locks in use. */
	for (int i = 1; i < MANY; i++)
		cr_assert_eq(claim_call(&many[i], DLKI_RELEASE), DLKI_ANSWERED);
	claim_prepare(&s, &side_b, 9999, DLK_SEMAPHORE, DLK_SHARED, 3);
	cr_assert_eq(claim_call(&s, DLKI_ATTEMPT), DLKI_GRANTED);
	seen = list(&side_b);
	cr_assert_str_eq(seen.text, "lock name0 0;semaphore n 3;");
}

/* ---- Release ------------------------------------------------------------- */

/* The server has forgotten the script, and there is one round trip. */
Test(redis_engine, a_closing_client_releases_all_in_one_flight,
     .init = side_setup, .fini = side_teardown)
{
	enum { MANY = 200 };
	static struct claim many[MANY];
	static char names[MANY][16];

	for (int i = 0; i < MANY; i++) {
		claim_prepare(&many[i], &side_a, i + 1, DLK_LOCK, DLK_EXCLUSIVE,
			      0);
		snprintf(names[i], sizeof(names[i]), "name%d", i);
		dlki_name_key(DLK_LOCK, names[i], many[i].key);
		many[i].request.name = names[i];
		cr_assert_eq(claim_call(&many[i], DLKI_ATTEMPT), DLKI_GRANTED);
	}
	cr_assert_eq(lab_redis_do(server, NULL, 0, "SCRIPT FLUSH"), 0);
	for (int i = 0; i < MANY; i++) {
		many[i].op.closing = 1;
		claim_begin(&many[i], DLKI_RELEASE);
	}
	for (int i = 0; i < MANY; i++) {
		cr_assert_eq(claim_end(&many[i]), DLKI_ANSWERED, "%d", i);
		cr_assert_eq(many[i].op.stood, 1);
	}
}

static long pings(void)
{
	static char reply[16000];
	const char *at;

	cr_assert_eq(lab_redis_do(server, reply, sizeof(reply),
				  "INFO commandstats"),
		     0);
	at = strstr(reply, "cmdstat_ping:calls=");
	return at ? strtol(at + 19, NULL, 10) : 0;
}

Test(redis_engine, a_ping_goes_ahead_of_a_release_after_a_while,
     .init = side_setup, .fini = side_teardown)
{
	struct claim c;
	long before;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	for (int i = 0; i < 2; i++) { /* the first one brings the text */
		before = pings();
		cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
		c.op.lease_heard = dlk_now();
		nap_ms(1);
		cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
		cr_assert_eq(c.op.stood, 1);
	}
	cr_assert_eq(pings(), before + 1);
}

/* ---- key=plain ----------------------------------------------------------- */

static void plain_setup(void)
{
	side_setup();
	side_close(&side_a);
	side_open_redis(&side_a, "", "&key=plain");
}

Test(redis_engine, a_plain_key_excludes_foreign_clients, .init = plain_setup,
     .fini = side_teardown)
{
	struct seen seen;
	struct claim c;

	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	server_says("SET n theirs NX PX 60000", "OK");
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_BUSY);
	cr_assert_gt(c.op.look_in_ms, 0);
	cr_assert_leq(c.op.look_in_ms, 60001);
	seen = inspect(&side_a);
	cr_assert_str_eq(seen.text,
			 "holds x a client of another library (SET NX PX);");
	cr_assert_eq(claim_call(&c, DLKI_BREAK), DLKI_ANSWERED);
	cr_assert_eq(claim_call(&c, DLKI_ATTEMPT), DLKI_GRANTED);
	server_says("SET n theirs NX PX 60000", "");
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	cr_assert_eq(claim_call(&c, DLKI_RELEASE), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 1);
	server_says("EXISTS n", "0");
	cr_assert_eq(claim_call(&c, DLKI_RENEW), DLKI_ANSWERED);
	cr_assert_eq(c.op.stood, 0);
}
