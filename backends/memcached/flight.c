/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that go out together and are answered in their order. */
#include "memcached.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "core/clock.h"

/* How long the server's clock goes on being trusted. */
#define CLOCK_FRESH (500 * DLKI_MS)
#define STOPPED "%s: the server was stopped for a while"

static const struct memc_dialect *dialect(const struct memc_conn *c)
{
	return c->meta ? &dlki_memc_meta : &dlki_memc_text;
}

/* `add` and `cas` are the text protocol's in either case: see meta.c. */
static void put_item(struct memc_conn *c, const struct memc_op *op,
		     const char *key)
{
	uint64_t exptime_s = (uint64_t)c->session->exptime_s;
	char text[MEMC_TEXT_SIZE];
	uint64_t len = (uint64_t)dlki_memc_item_print(text, op->claim,
						      op->token);

	if (op->verb == MEMC_ADD)
		dlki_memc_put(c, "add %s 0 %" PRIu64 " %" PRIu64 "\r\n%s\r\n",
			      key, exptime_s, len, text);
	else
		dlki_memc_put(c,
			      "cas %s 0 %" PRIu64 " %" PRIu64 " %" PRIu64
			      "\r\n%s\r\n",
			      key, exptime_s, len, op->cas, text);
}

static void put(struct memc_conn *c, const struct memc_op *op)
{
	const struct memc_dialect *d = dialect(c);
	char key[MEMC_KEY_SIZE];

	dlki_memc_key(c->session, op->claim, op->slot, key);
	if (op->verb == MEMC_DROP) {
		d->put_drop(c, key, op->cas);
		return;
	}
	if (op->verb != MEMC_LOOK)
		put_item(c, op, key);
	d->put_look(c, key);
}

static int get_look(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		    struct dlk_error *err)
{
	const char *owner = op->claim->owner;
	char text[MEMC_TEXT_SIZE];
	int rc = dialect(c)->get_look(c, op, text, deadline, err);

	if (rc != 0 || op->answer == MEMC_MISSING)
		return rc;
	if (op->item.cas == 0)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: the server gives items no cas; start it "
				"without -C",
				c->net.who);
	dlki_memc_item_parse(&op->item, text);
	if (op->item.owner[0] && op->item.token == 0)
		op->item.token = c->base + op->item.cas;
	if (owner && strcmp(op->item.owner, owner) == 0)
		op->answer = MEMC_MINE;
	return 0;
}

/* What is there afterwards decides; the first line only tells whether it came
 * to be there by this request. */
static int get_stored(struct memc_conn *c, struct memc_op *op,
		      dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int stored;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	stored = strcmp(line, "STORED") == 0;
	if (!stored && strcmp(line, "NOT_STORED") != 0 &&
	    strcmp(line, "EXISTS") != 0 && strcmp(line, "NOT_FOUND") != 0)
		return dlki_memc_odd(c, line, err);
	rc = get_look(c, op, deadline, err);
	if (rc == 0 && stored && op->answer == MEMC_MINE)
		op->answer = MEMC_DONE;
	return rc;
}

/* What is stored counts by the server's clock, which therefore is looked at in
 * the same flight, unless that was done just now. */
static int needs_clock(const struct memc_conn *c, const struct memc_op *ops,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].verb == MEMC_ADD || ops[i].verb == MEMC_SWAP)
			return dlk_now() - c->clock_seen > CLOCK_FRESH;
	}
	return 0;
}

static int see_clock(struct memc_conn *c, dlk_time asked, dlk_time deadline,
		     struct dlk_error *err)
{
	struct memc_about a = { 0 };
	int rc = dlki_memc_about(c, &a, asked, deadline, err);

	if (rc != 0)
		return rc;
	if (a.late)
		return dlk_fail(err, DLOCK_EUNREACHABLE, STOPPED, c->net.who);
	c->clock_seen = asked;
	return 0;
}

static int get(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
	       struct dlk_error *err)
{
	switch (op->verb) {
	case MEMC_LOOK:
		return get_look(c, op, deadline, err);
	case MEMC_DROP:
		return dialect(c)->get_drop(c, op, deadline, err);
	default:
		return get_stored(c, op, deadline, err);
	}
}

int dlki_memc_run(struct memc_conn *c, struct memc_op *ops, size_t n,
		  dlk_time deadline, struct dlk_error *err)
{
	dlk_time asked = dlk_now();
	int clock = needs_clock(c, ops, n);
	int rc;

	assert(n <= MEMC_FLIGHT);
	if (clock)
		dlki_memc_put(c, "stats\r\n");
	for (size_t i = 0; i < n; i++)
		put(c, &ops[i]);
	rc = dlki_memc_send(c, deadline, err);
	if (rc == 0 && clock)
		rc = see_clock(c, asked, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = get(c, &ops[i], deadline, err);
	/* It may have been stopped after it was asked. */
	if (rc == 0 && !clock && dlk_now() - asked > CLOCK_FRESH &&
	    needs_clock(c, ops, n))
		rc = dlk_fail(err, DLOCK_EUNREACHABLE, STOPPED, c->net.who);
	return rc;
}
