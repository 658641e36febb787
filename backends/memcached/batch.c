/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of a batch go out together and are answered in their order.
 *
 * A proxy that keeps our connection may lead it to another run of the server.
 * That run stores what we send, under keys that no other client reads, and we
 * would believe that we have a lock.  So an item that was stored counts if our
 * run was there a second before the answer, or is after it: in its first second
 * the next run grants nothing to anybody.
 */
#include "batch.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "clock.h"
#include "dialect.h"
#include "wire.h"

static const struct memc_dialect *dialect_of(const struct memc_conn *c)
{
	return c->meta ? &dlki_memc_meta : &dlki_memc_text;
}

static int64_t lifetime_s(const struct memc_conn *c, const struct memc_op *op)
{
	return op->slot == MEMC_MARK || op->slot == MEMC_WISH ?
		       c->session->mark_s :
		       c->session->exptime_s;
}

/* A mark may live longer than it says: the server has counted on since. */
static int print_mark(const struct memc_conn *c, const struct memc_op *op,
		      char text[MEMC_TEXT_SIZE])
{
	struct memc_item mark = op->item;

	if (op->verb == MEMC_ADD) {
		memcpy(mark.owner, op->request->owner, sizeof(mark.owner));
		mark.add = op->add;
		mark.limit = op->request->limit;
	}
	return dlki_memc_mark_print(text, &mark,
				    c->uptime_s + (uint64_t)lifetime_s(c, op));
}

/* `add` and `cas` are the text protocol's in either dialect: see meta.c. */
static void put_item(struct memc_conn *c, const struct memc_op *op,
		     const char *key)
{
	uint64_t exptime_s = (uint64_t)lifetime_s(c, op);
	char text[MEMC_TEXT_SIZE];
	uint64_t len =
		(uint64_t)(op->slot == MEMC_MARK ?
				   print_mark(c, op, text) :
				   dlki_memc_item_print(text, op->request,
							op->token, op->add));

	if (op->verb == MEMC_ADD)
		dlki_memc_put(c, "add %s 0 %" PRIu64 " %" PRIu64 "\r\n%s\r\n",
			      key, exptime_s, len, text);
	else
		dlki_memc_put(c,
			      "cas %s 0 %" PRIu64 " %" PRIu64 " %" PRIu64
			      "\r\n%s\r\n",
			      key, exptime_s, len, op->cas, text);
}

static void put_op(struct memc_conn *c, const struct memc_op *op)
{
	const struct memc_dialect *d = dialect_of(c);
	char key[MEMC_KEY_SIZE];

	dlki_memc_key(c, op->request, op->slot, key);
	if (op->verb == MEMC_DROP) {
		d->put_drop(c, key, op->cas);
		return;
	}
	if (op->verb != MEMC_GET)
		put_item(c, op, key);
	d->put_get(c, key);
}

static int read_item(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		     struct dlk_error *err)
{
	const char *owner = op->request->owner;
	char text[MEMC_TEXT_SIZE];
	int rc = dialect_of(c)->read_get(c, op, text, deadline, err);

	if (rc != 0 || op->answer == MEMC_MISSING)
		return rc;
	if (op->item.cas == 0)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: the server gives items no cas; start it "
				"without -C",
				c->net.peer);
	dlki_memc_item_parse(&op->item, text);
	if (op->item.owner[0] && op->item.token == 0)
		op->item.token = c->base + op->item.cas;
	if (owner && strcmp(op->item.owner, owner) == 0)
		op->answer = MEMC_MINE;
	return 0;
}

/* Any client may have made the mark: it is as we want it if it says the right
 * number. */
static int is_as_stored(const struct memc_op *op, uint32_t limit)
{
	return op->slot == MEMC_MARK ?
		       op->answer != MEMC_MISSING && op->item.limit == limit :
		       op->answer == MEMC_MINE;
}

/* The item that is there afterwards decides; the first line only tells whether
 * it came to be there by this request. */
static int read_stored(struct memc_conn *c, struct memc_op *op,
		       dlk_time deadline, struct dlk_error *err)
{
	uint32_t limit = op->verb == MEMC_ADD ? op->request->limit :
						op->item.limit;
	const char *line;
	int stored;
	int rc = dlki_memc_line(c, &line, deadline, err);

	if (rc != 0)
		return rc;
	stored = strcmp(line, "STORED") == 0;
	if (!stored && strcmp(line, "NOT_STORED") != 0 &&
	    strcmp(line, "EXISTS") != 0 && strcmp(line, "NOT_FOUND") != 0)
		return dlki_memc_unexpected(c, line, err);
	rc = read_item(c, op, deadline, err);
	if (rc == 0 && stored && is_as_stored(op, limit))
		op->answer = MEMC_DONE;
	return rc;
}

static int is_store(const struct memc_op *op)
{
	return op->verb == MEMC_ADD || op->verb == MEMC_SWAP;
}

static int any_needs_clock(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_store(&ops[i]) || ops[i].slot == MEMC_MARK)
			return 1;
	}
	return 0;
}

static int read_op(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		   struct dlk_error *err)
{
	switch (op->verb) {
	case MEMC_GET:
		return read_item(c, op, deadline, err);
	case MEMC_DROP:
		return dialect_of(c)->read_drop(c, op, deadline, err);
	default:
		return read_stored(c, op, deadline, err);
	}
}

/* An item that is stored lives by the server's clock, and a mark tells its end
 * by it.  So the clock is read in the same batch, unless that was done not long
 * ago. */
static int run_once(struct memc_conn *c, struct memc_op *ops, size_t n,
		    dlk_time deadline, struct dlk_error *err)
{
	dlk_time asked = dlk_now();
	struct memc_stats st = { 0 };
	int clock = any_needs_clock(ops, n) &&
		    !dlki_memc_clock_is_fresh(c, asked);
	int rc;

	if (clock)
		dlki_memc_put(c, "stats\r\n");
	for (size_t i = 0; i < n; i++)
		put_op(c, &ops[i]);
	rc = dlki_memc_send(c, deadline, err);
	if (rc == 0 && clock)
		rc = dlki_memc_stats_read(c, &st, asked, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = read_op(c, &ops[i], deadline, err);
	if (rc != 0)
		return rc;
	dlki_memc_answered(c, asked);
	return dlki_memc_current(c, err);
}

static int any_without_room(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].verb == MEMC_DROP && ops[i].answer == MEMC_NO_ROOM)
			return 1;
	}
	return 0;
}

/* The text protocol removes an item by storing another, for which there is no
 * memory.  The meta protocol needs none, and the server may speak it too. */
static int drop_without_room(struct memc_conn *c, struct memc_op *ops, size_t n,
			     dlk_time deadline, struct dlk_error *err)
{
	int rc;

	for (size_t i = 0; i < n; i++) {
		char key[MEMC_KEY_SIZE];

		if (ops[i].verb != MEMC_DROP || ops[i].answer != MEMC_NO_ROOM)
			continue;
		dlki_memc_key(c, ops[i].request, ops[i].slot, key);
		dlki_memc_meta.put_drop(c, key, ops[i].cas);
	}
	rc = dlki_memc_send(c, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (ops[i].verb == MEMC_DROP && ops[i].answer == MEMC_NO_ROOM)
			rc = dlki_memc_meta.read_drop(c, &ops[i], deadline,
						      err);
	}
	if (rc == DLOCK_EPROTO)
		rc = dlk_fail(err, DLOCK_EEXHAUSTED,
			      "%s: the server is out of memory, and without "
			      "the meta protocol a release needs some: give "
			      "it more",
			      c->net.peer);
	return rc;
}

static int was_stored(const struct memc_op *op)
{
	return is_store(op) && op->answer == MEMC_DONE;
}

static int any_stored(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (was_stored(&ops[i]))
			return 1;
	}
	return 0;
}

/* A mark's add is not sent twice: it could make two that look the same. */
static void store_again(struct memc_op *op)
{
	if (was_stored(op)) {
		op->verb = MEMC_SWAP;
		op->cas = op->item.cas;
		op->token = op->item.token;
	} else if (op->verb == MEMC_ADD && op->slot == MEMC_MARK) {
		op->verb = MEMC_GET;
	}
}

struct memc_op dlki_memc_op(enum memc_verb verb,
			    const struct dlk_request *request, int slot)
{
	return (struct memc_op){
		.verb = verb,
		.request = request,
		.slot = slot,
	};
}

int dlki_memc_run(struct memc_conn *c, struct memc_op *ops, size_t n,
		  dlk_time deadline, struct dlk_error *err)
{
	assert(n <= MEMC_BATCH_MAX);
	for (;;) {
		int rc = run_once(c, ops, n, deadline, err);

		if (rc == 0 && any_without_room(ops, n))
			rc = drop_without_room(c, ops, n, deadline, err);
		if (rc != 0 || !any_stored(ops, n))
			return rc;
		if (dlk_now() <= c->trusted)
			return dlki_memc_confirm(c, deadline, err);
		rc = dlki_memc_clock_await(c, deadline, err);
		if (rc != 0)
			return rc;
		for (size_t i = 0; i < n; i++)
			store_again(&ops[i]);
	}
}

int dlki_memc_survey(struct memc_conn *c, const struct dlk_request *request,
		     int first, int slots,
		     int (*each)(struct memc_op *op, void *arg), void *arg,
		     dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX];
	int next = first;

	while (next < slots) {
		size_t n = 0;
		int rc;

		for (; n < MEMC_BATCH_MAX && next < slots; next++) {
			if (next != MEMC_GATE || dlki_memc_gated(request))
				ops[n++] = dlki_memc_op(MEMC_GET, request,
							next);
		}
		rc = dlki_memc_run(c, ops, n, deadline, err);
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = each(&ops[i], arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void dlki_memc_own(struct memc_ticket *t, const struct memc_conn *c,
		   const struct memc_op *op)
{
	t->owned = op->slot == MEMC_GATE ? MEMC_AT_GATE : MEMC_IN_SLOT;
	t->slot = op->slot;
	t->cas = op->item.cas;
	t->born_s = c->born_s;
	t->epoch = c->epoch;
}
