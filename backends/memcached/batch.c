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

#include "clock.h"
#include "uri.h"
#include "wire.h"

static int any_needs_clock(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (dlki_memc_op_is_store(&ops[i]) || ops[i].slot == MEMC_MARK)
			return 1;
	}
	return 0;
}

/* A store that is refused for lack of memory is followed by its get. */
static int read_op(struct memc_conn *c, struct memc_op *op, dlk_time deadline,
		   struct dlk_error *err)
{
	struct memc_reading r;
	int rc = dlki_memc_read(c, op, &r, deadline, err);

	if (rc == 0 && r.full[0])
		return dlki_memc_unexpected_from(c, r.full, err);
	return rc != 0 ? rc : dlki_memc_op_check(op, c->net.peer, err);
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
		    !dlki_memc_run_is_fresh(&c->run, c->round_trip, asked);
	int rc;

	if (clock)
		dlki_memc_put(&c->out, "stats\r\n");
	for (size_t i = 0; i < n; i++)
		dlki_memc_op_put(&c->out, &c->run, &ops[i]);
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
		if (ops[i].verb != MEMC_DROP || ops[i].answer != MEMC_NO_ROOM)
			continue;
		ops[i].verb = MEMC_DROP_META;
		dlki_memc_op_put(&c->out, &c->run, &ops[i]);
	}
	rc = dlki_memc_send(c, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (ops[i].verb == MEMC_DROP_META)
			rc = read_op(c, &ops[i], deadline, err);
	}
	if (rc == DLOCK_EPROTO)
		rc = dlk_fail(err, DLOCK_EEXHAUSTED, MEMC_IS_FULL, c->net.peer);
	return rc;
}

static int any_stored(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (dlki_memc_op_was_stored(&ops[i]))
			return 1;
	}
	return 0;
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
		if (dlk_now() <= c->run.trusted)
			return dlki_memc_confirm(c, deadline, err);
		rc = dlki_memc_clock_await(c, deadline, err);
		if (rc != 0)
			return rc;
		for (size_t i = 0; i < n; i++)
			dlki_memc_op_store_again(&ops[i]);
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
