/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of the memcached protocol, with a real server. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "support/wait.h"
#include "tests/memcached/protocol/side.h"

static void expect(struct claim *c, enum dlki_verb verb, int stood)
{
	cr_assert_eq(claim_call(c, verb), DLKI_ANSWERED, "%d: %s", (int)verb,
		     c->error);
	cr_assert_eq(c->op.stood, stood, "%d", (int)verb);
}

static void expect_granted(struct claim *c)
{
	cr_assert_eq(claim_call(c, DLKI_ATTEMPT), DLKI_GRANTED, "%s", c->error);
	cr_assert_gt(c->token, 0);
}

static void expect_busy(struct claim *c)
{
	c->op.is_last = 1; /* and no other waiter's answer will do */
	cr_assert_eq(claim_call(c, DLKI_ATTEMPT), DLKI_BUSY, "%s", c->error);
}

/* The gate has no item any longer. */
static void expect_free_gate(void)
{
	char line[80];

	snprintf(line, sizeof(line), "get dlock.%" PRIu64 ".lnn",
		 side_born_s(&side_a));
	cr_assert_str_eq(server_says(line), "END\r\n");
}

/* An attempt waits so long for a clock of the server that is about to tick, as
 * when the server has just grown up, and asks again. */
#define A_NAP (20 * DLK_MS)

/* ---- Exclusive ----------------------------------------------------------- */

EITHER_WAY(memcached_engine, a_lock_is_granted_renewed_and_released)
{
	dlk_time before;
	struct claim c, d;

	side_begin(protocol, NULL);
	before = dlk_now();
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect_granted(&c);
	cr_assert_geq(c.op.since, before);
	if (c.op.since < before + A_NAP)
		cr_assert_eq(c.op.requests, 1);
	cr_assert_eq(c.op.lease_ms, TTL_MS * slowness());
	expect_busy(&d);
	expect(&d, DLKI_RELEASE, 0);
	expect(&c, DLKI_RENEW, 1);
	cr_assert_eq(c.op.lease_ms, TTL_MS * slowness());
	expect(&c, DLKI_RELEASE, 1);
	expect(&c, DLKI_RENEW, 0);
	expect_granted(&d);
	cr_assert_gt(d.token, c.token);
	expect(&d, DLKI_RELEASE, 1);
	expect_free_gate();
}

EITHER_WAY(memcached_engine, what_is_ours_is_granted_again)
{
	struct claim c;
	uint64_t token;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect_granted(&c);
	token = c.token;
	expect_granted(&c);
	cr_assert_eq(c.token, token);
	expect(&c, DLKI_RELEASE, 1);
	expect_free_gate();
}

/* As after a lost reply: the claim knows nothing of the item. */
EITHER_WAY(memcached_engine, what_is_unknown_is_found)
{
	struct claim c, d;
	uint64_t token;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_a, 2, DLK_LOCK, DLK_SHARED, 0);
	expect_granted(&c);
	token = c.token;
	memset(c.memory, 0, sizeof(c.memory));
	expect_granted(&c);
	cr_assert_eq(c.token, token);
	expect(&c, DLKI_RELEASE, 1);
	expect_granted(&d);
	token = d.token;
	memset(d.memory, 0, sizeof(d.memory));
	expect_granted(&d);
	cr_assert_eq(d.token, token);
	expect(&d, DLKI_RELEASE, 1);
}

/* ---- Shared and counted -------------------------------------------------- */

EITHER_WAY(memcached_engine, readers_share_and_a_writer_has_its_turn)
{
	struct claim r1, r2, w, late;

	side_begin(protocol, NULL);
	claim_prepare(&r1, &side_a, 1, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&r2, &side_b, 2, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&w, &side_b, 3, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&late, &side_a, 4, DLK_LOCK, DLK_SHARED, 0);
	expect_granted(&r1);
	expect_granted(&r2);
	expect_busy(&w);
	expect_busy(&late);
	expect(&r1, DLKI_RENEW, 1);
	expect(&r1, DLKI_RELEASE, 1);
	expect_busy(&w);
	expect(&r2, DLKI_RELEASE, 1);
	expect_granted(&w);
	expect_busy(&late);
	expect(&w, DLKI_RENEW, 1);
	expect(&w, DLKI_RELEASE, 1);
	expect_granted(&late);
	cr_assert_gt(late.token, w.token);
	expect(&late, DLKI_RELEASE, 1);
}

EITHER_WAY(memcached_engine, a_semaphore_counts)
{
	struct claim c, d, e, other;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&d, &side_a, 2, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&e, &side_b, 3, DLK_SEMAPHORE, DLK_SHARED, 2);
	claim_prepare(&other, &side_b, 4, DLK_SEMAPHORE, DLK_SHARED, 3);
	expect_granted(&c);
	expect_granted(&d);
	expect_busy(&e);
	cr_assert_eq(claim_call(&other, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_str_eq(other.error, "semaphore 'n' has 2 permits, not 3");
	expect(&d, DLKI_RELEASE, 1);
	expect_granted(&e);
	expect(&e, DLKI_RENEW, 1);
	expect(&c, DLKI_RELEASE, 1);
	expect(&e, DLKI_RELEASE, 1);
	expect_granted(&other);
	expect(&other, DLKI_RELEASE, 1);
}

EITHER_WAY(memcached_engine, a_semaphore_of_many_permits_is_surveyed_in_parts)
{
	struct claim c, d, many[70];

	side_begin(protocol, NULL);
	for (int i = 0; i < 70; i++) {
		claim_prepare(&many[i], &side_a, i + 1, DLK_SEMAPHORE,
			      DLK_SHARED, 70);
		expect_granted(&many[i]);
	}
	claim_prepare(&c, &side_b, 100, DLK_SEMAPHORE, DLK_SHARED, 70);
	claim_prepare(&d, &side_b, 101, DLK_SEMAPHORE, DLK_SHARED, 2000);
	expect_busy(&c);
	cr_assert_eq(claim_call(&d, DLKI_ATTEMPT), DLKI_FAILED);
	cr_assert_not_null(strstr(d.error, "at most 1024"), "%s", d.error);
	expect(&many[69], DLKI_RELEASE, 1);
	expect_granted(&c);
	expect(&many[0], DLKI_BREAK, 1);
	for (int i = 1; i < 69; i++)
		expect(&many[i], DLKI_RENEW, 0);
	expect(&c, DLKI_RENEW, 0);
}

/* ---- Losses -------------------------------------------------------------- */

EITHER_WAY(memcached_engine, a_flush_is_seen_by_the_next_renewal)
{
	struct claim c, d;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect_granted(&c);
	cr_assert_str_eq(server_says("flush_all"), "OK\r\n");
	expect_granted(&d);
	expect(&c, DLKI_RENEW, 0);
	expect(&c, DLKI_RELEASE, 0);
	expect(&d, DLKI_RELEASE, 1);
}

EITHER_WAY(memcached_engine, a_break_takes_the_lock)
{
	char about[DLKI_ABOUT] = "";
	struct claim c, d, r, by;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&d, &side_a, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&r, &side_a, 3, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&by, &side_b, 9, DLK_LOCK, DLK_EXCLUSIVE, 0);
	by.op.about = about;
	expect_granted(&c);
	expect(&by, DLKI_BREAK, 1);
	expect(&c, DLKI_RENEW, 0);
	expect_granted(&d);
	/* Submitted anew, it is about the same holders. */
	expect(&by, DLKI_BREAK, 1);
	expect(&d, DLKI_RENEW, 1);
	about[0] = '\0';
	expect(&by, DLKI_BREAK, 1);
	expect(&d, DLKI_RENEW, 0);
	expect_granted(&r);
	about[0] = '\0';
	expect(&by, DLKI_BREAK, 1);
	expect(&r, DLKI_RENEW, 0);
}

EITHER_WAY(memcached_engine, a_mark_that_is_gone_ends_the_readers_hold)
{
	struct claim r, w;
	char line[120];

	side_begin(protocol, NULL);
	claim_prepare(&r, &side_a, 1, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&w, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect_granted(&r);
	snprintf(line, sizeof(line), "delete dlock.%" PRIu64 ".lnn.m",
		 side_born_s(&side_a));
	cr_assert_str_eq(server_says(line), "DELETED\r\n");
	expect(&r, DLKI_RENEW, 0);
	expect(&r, DLKI_RELEASE, 1);
	expect_granted(&w);
}

/* ---- Wanted -------------------------------------------------------------- */

EITHER_WAY(memcached_engine, a_revoke_is_heard_by_a_renewal)
{
	struct claim c, by;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&by, &side_b, 2, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect(&by, DLKI_REVOKE, 1);
	expect_granted(&c);
	expect(&c, DLKI_WATCH, 1);
	cr_assert_eq(c.op.wanted, 0);
	cr_assert_eq(c.op.token_last, c.token);
	expect(&c, DLKI_RENEW, 1);
	cr_assert_eq(side_a.wanted, 0);
	expect(&by, DLKI_REVOKE, 1);
	expect(&c, DLKI_RENEW, 1);
	cr_assert_eq(side_a.wanted, 1);
	cr_assert_str_eq(side_a.owner, c.owner);
	expect(&c, DLKI_RENEW, 1);
	cr_assert_eq(side_a.wanted, 1, "the wish is taken away");
	expect(&by, DLKI_REVOKE, 1);
	expect(&c, DLKI_WATCH, 1);
	cr_assert_eq(c.op.wanted, 1);
	expect(&c, DLKI_WATCH, 1);
	cr_assert_eq(c.op.wanted, 0);
	expect(&c, DLKI_RELEASE, 1);
}

/* ---- Inspect ------------------------------------------------------------- */

static char rows[400];

static void on_participant(const struct dlock_participant *p, void *arg)
{
	size_t n = strlen(rows);

	cr_assert_eq(arg, rows);
	snprintf(rows + n, sizeof(rows) - n, "%s%s %s %s %d;",
		 p->waiting ? "waits " : "", p->shared ? "shared" : "exclusive",
		 p->label, p->id, p->token != 0);
}

static void inspect(struct claim *by)
{
	rows[0] = '\0';
	by->op.each.participant = on_participant;
	by->op.each_arg = rows;
	expect(by, DLKI_INSPECT, 1);
}

EITHER_WAY(memcached_engine, an_inspection_reports_all)
{
	struct claim c, r, by;

	side_begin(protocol, NULL);
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	claim_prepare(&r, &side_a, 2, DLK_LOCK, DLK_SHARED, 0);
	claim_prepare(&by, &side_b, 9, DLK_LOCK, DLK_EXCLUSIVE, 0);
	inspect(&by);
	cr_assert_str_eq(rows, "");
	expect_granted(&c);
	inspect(&by);
	cr_assert_str_eq(rows, "exclusive a test 000000000000 1;");
	expect(&c, DLKI_RELEASE, 1);
	expect_granted(&r);
	expect_busy(&c);
	inspect(&by);
	cr_assert_str_eq(rows, "waits exclusive a test 000000000000 0;"
			       "shared a test 000000000000 1;");
}

/* ---- Beside the backend -------------------------------------------------- */

EITHER_WAY(memcached_engine, the_protocol_understands_the_backend)
{
	dlock_client *client;
	dlock_hold *hold, *none;
	dlock_lock *lock;
	struct claim c;
	char uri[120];

	side_begin(protocol, NULL);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d?ttl=60s",
		 server->port);
	cr_assert_eq(dlock_open(&client, uri, NULL), 0, "%s", dlock_errmsg());
	cr_assert_eq(dlock_mutex_new(&lock, client, "n"), 0);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), 0, "%s", dlock_errmsg());
	claim_prepare(&c, &side_a, 1, DLK_LOCK, DLK_EXCLUSIVE, 0);
	expect_busy(&c);
	expect(&c, DLKI_RELEASE, 0);
	cr_assert_eq(dlock_release(hold), 0);
	expect_granted(&c);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EBUSY);
	expect(&c, DLKI_RELEASE, 1);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), 0, "%s", dlock_errmsg());
	cr_assert_gt(dlock_token(hold), c.token);
	cr_assert_eq(dlock_release(hold), 0);
	dlock_lock_free(lock);
	dlock_close(client);
}
