/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that go out together and are answered in their order. */
#include "memcached.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "core/clock.h"

#define QUARTER (250 * DLKI_MS) /* more than most flights take */
#define NAP (20 * DLKI_MS)
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
						      op->token, op->add);

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

static int stores(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].verb == MEMC_ADD || ops[i].verb == MEMC_SWAP)
			return 1;
	}
	return 0;
}

static int see_clock(struct memc_conn *c, dlk_time asked, dlk_time deadline,
		     struct dlk_error *err)
{
	struct memc_about a = { 0 };

	return dlki_memc_about(c, &a, asked, deadline, err);
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

/* What is stored counts by the server's clock, which therefore is looked at in
 * the same flight, unless that was done not long ago. */
static int fly(struct memc_conn *c, struct memc_op *ops, size_t n,
	       dlk_time deadline, struct dlk_error *err)
{
	dlk_time asked = dlk_now();
	int clock = stores(ops, n) && asked + QUARTER > c->trusted;
	int rc;

	if (clock)
		dlki_memc_put(c, "stats\r\n");
	for (size_t i = 0; i < n; i++)
		put(c, &ops[i]);
	rc = dlki_memc_send(c, deadline, err);
	if (rc == 0 && clock)
		rc = see_clock(c, asked, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = get(c, &ops[i], deadline, err);
	return rc;
}

/* Its clock goes on within a second, unless it is stopped. */
static int await_clock(struct memc_conn *c, dlk_time deadline,
		       struct dlk_error *err)
{
	for (;;) {
		dlk_time asked = dlk_now();
		int rc;

		dlki_memc_put(c, "stats\r\n");
		rc = dlki_memc_send(c, deadline, err);
		if (rc == 0)
			rc = see_clock(c, asked, deadline, err);
		if (rc != 0 || dlk_now() <= c->trusted)
			return rc;
		if (dlk_now() + NAP > deadline)
			return dlk_fail(err, DLOCK_EUNREACHABLE, STOPPED,
					c->net.who);
		dlki_memc_sleep_until(dlk_now() + NAP);
	}
}

static int was_stored(const struct memc_op *op)
{
	return stores(op, 1) && op->answer == MEMC_DONE;
}

static int any_stored(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (was_stored(&ops[i]))
			return 1;
	}
	return 0;
}

static void store_again(struct memc_op *op)
{
	op->verb = MEMC_SWAP;
	op->cas = op->item.cas;
	op->token = op->item.token;
}

int dlki_memc_run(struct memc_conn *c, struct memc_op *ops, size_t n,
		  dlk_time deadline, struct dlk_error *err)
{
	assert(n <= MEMC_FLIGHT);
	for (;;) {
		int rc = fly(c, ops, n, deadline, err);

		if (rc != 0 || !any_stored(ops, n) || dlk_now() <= c->trusted)
			return rc;
		rc = await_clock(c, deadline, err);
		if (rc != 0)
			return rc;
		for (size_t i = 0; i < n; i++) {
			if (was_stored(&ops[i]))
				store_again(&ops[i]);
		}
	}
}
