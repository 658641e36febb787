/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/ops.h"
#include "core/base/container.h"

#include <assert.h>
#include <stdlib.h>

/* ---- The end ------------------------------------------------------------- */

static void leave_flight(struct dlki_op *op)
{
	struct dlki_slot *slot = dlki_flight_at(&op->link->flight, op->serial);

	op->since = slot->since;
	slot->op = NULL;
	op->link = NULL;
}

/* The queue of a QUEUED or HELD op. */
static struct dlki_ops *queue_of(const struct dlki_op *op)
{
	struct dlki_engine *e = op->engine;

	return op->state == DLKI_OP_HELD ? &e->held : &e->queue;
}

void dlki_ops_sent(struct dlki_op *op, struct dlki_link *l, uint64_t serial)
{
	if (op->state == DLKI_OP_FLIGHT)
		leave_flight(op);
	else
		TAILQ_REMOVE(queue_of(op), op, in_queue);
	op->state = DLKI_OP_FLIGHT;
	op->link = l;
	op->serial = serial;
	op->requests++;
}

static int is_answer(enum dlki_outcome outcome)
{
	return outcome == DLKI_GRANTED || outcome == DLKI_BUSY ||
	       outcome == DLKI_ANSWERED;
}

void dlki_ops_end(struct dlki_op *op, enum dlki_outcome outcome,
		  enum dlki_residue residue)
{
	struct dlki_engine *e = op->engine;

	if (op->state == DLKI_OP_FLIGHT) {
		leave_flight(op);
	} else {
		if (is_answer(outcome)) /* at once */
			op->since = e->now;
		TAILQ_REMOVE(queue_of(op), op, in_queue);
	}
	if (outcome != DLKI_BUSY) {
		free(op->error);
		op->error = NULL;
	}
	op->outcome = outcome;
	op->residue = residue;
	op->state = DLKI_OP_ENDED;
	dlki_alarm_set(&e->alarms, &op->alarm, DLK_FOREVER);
	dlki_alarms_unreserve(&e->alarms, 1);
	TAILQ_INSERT_TAIL(&e->ended, op, in_queue);
}

/* Between two requests, or before the first. */
static void end_waiting(struct dlki_op *op)
{
	if (op->requests > 0)
		dlki_ops_end(op, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
	else
		dlki_ops_end(op, DLKI_UNSENT, DLKI_RESIDUE_NONE);
}

void dlki_cancel(struct dlki_op *op)
{
	struct dlki_engine *e = op->engine;
	struct dlki_link *l = op->link;

	if (op->state == DLKI_OP_QUEUED || op->state == DLKI_OP_HELD)
		end_waiting(op);
	if (op->state != DLKI_OP_FLIGHT)
		return;
	dlki_ops_end(op, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
	if (e->protocol->late && !l->probed)
		e->protocol->late(e->store, l, e->now);
}

static void deadline_rings(struct dlki_alarm *a, dlk_time now)
{
	struct dlki_op *op = DLKI_CONTAINER_OF(a, struct dlki_op, alarm);
	int was_sent = op->state == DLKI_OP_FLIGHT;
	struct dlki_link *l = op->link;

	if (now < op->deadline) {
		dlki_alarm_set(&op->engine->alarms, a, op->deadline);
		return;
	}
	dlki_cancel(op);
	if (was_sent)
		dlki_link_doubt(l, op->since, now);
}

void dlki_ops_requeue(struct dlki_op *op)
{
	if (op->requests > 1) {
		dlki_ops_end(op, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
		return;
	}
	leave_flight(op);
	op->requests = 0;
	op->since = 0;
	op->state = DLKI_OP_QUEUED;
	TAILQ_INSERT_HEAD(&op->engine->queue, op, in_queue);
}

static void end_begun(struct dlki_ops *q)
{
	struct dlki_op *next;

	for (struct dlki_op *op = TAILQ_FIRST(q); op; op = next) {
		next = TAILQ_NEXT(op, in_queue);
		if (op->requests > 0)
			end_waiting(op);
	}
}

void dlki_ops_end_begun(struct dlki_engine *e)
{
	end_begun(&e->held);
	end_begun(&e->queue);
}

void dlki_ops_fail_queue(struct dlki_engine *e, const struct dlk_error *err)
{
	struct dlki_op *next;

	dlki_resume(e->store);
	for (struct dlki_op *op = TAILQ_FIRST(&e->queue); op; op = next) {
		next = TAILQ_NEXT(op, in_queue);
		if (e->refused || op->tries != e->tries)
			dlki_failed(op, err, DLKI_RESIDUE_NONE);
	}
}

void dlki_ops_deliver(struct dlki_engine *e)
{
	struct dlki_op *last = TAILQ_LAST(&e->ended, dlki_ops);
	int more = last != NULL;

	while (more) {
		struct dlki_op *op = TAILQ_FIRST(&e->ended);
		struct dlk_error *error = op->error;

		more = op != last;
		TAILQ_REMOVE(&e->ended, op, in_queue);
		op->state = DLKI_OP_IDLE;
		op->done(op, e->now); /* may free the op */
		free(error);
	}
}

/* ---- The claim's side ---------------------------------------------------- */

int dlki_submit(struct dlki_engine *e, struct dlki_op *op)
{
	assert(op->state == DLKI_OP_IDLE);
	if (dlki_alarms_reserve(&e->alarms, 1) != 0)
		return DLOCK_ENOMEM;
	op->engine = e;
	op->outcome = DLKI_NO_OUTCOME;
	op->since = 0;
	op->requests = 0;
	op->tries = e->tries;
	op->error = NULL;
	op->link = NULL;
	op->state = DLKI_OP_QUEUED;
	op->alarm = (struct dlki_alarm){ .ring = deadline_rings };
	TAILQ_INSERT_TAIL(&e->queue, op, in_queue);
	dlki_alarm_set(&e->alarms, &op->alarm, op->deadline);
	if (e->refused)
		dlki_failed(op, e->refused, DLKI_RESIDUE_NONE);
	return 0;
}

/* ---- The protocol's side ------------------------------------------------- */

static int is_open(const struct dlki_op *op)
{
	return op && op->state != DLKI_OP_IDLE && op->state != DLKI_OP_ENDED;
}

void dlki_hold(struct dlki_op *op)
{
	struct dlki_engine *e = op->engine;

	if (op->state == DLKI_OP_FLIGHT)
		leave_flight(op);
	else if (op->state == DLKI_OP_QUEUED)
		TAILQ_REMOVE(&e->queue, op, in_queue);
	else
		return;
	op->state = DLKI_OP_HELD;
	TAILQ_INSERT_TAIL(&e->held, op, in_queue);
}

void dlki_resume(struct dlki_store *s)
{
	struct dlki_engine *e = s->engine;
	struct dlki_op *op;

	while ((op = TAILQ_LAST(&e->held, dlki_ops))) {
		TAILQ_REMOVE(&e->held, op, in_queue);
		op->state = DLKI_OP_QUEUED;
		TAILQ_INSERT_HEAD(&e->queue, op, in_queue);
	}
}

void dlki_row_participant(const struct dlki_op *op,
			  const struct dlock_participant *p)
{
	if (is_open(op) && op->each.participant)
		op->each.participant(p, op->each_arg);
}

void dlki_row_lock(const struct dlki_op *op, const struct dlock_lock_info *info)
{
	if (is_open(op) && op->each.lock)
		op->each.lock(info, op->each_arg);
}

void dlki_granted(struct dlki_op *op, uint64_t token)
{
	if (!is_open(op))
		return;
	op->token = token;
	dlki_ops_end(op, DLKI_GRANTED, DLKI_RESIDUE_MAYBE);
}

/* Does a standing claim still stand when the verb is carried out? */
static int keeps_claim(enum dlki_verb verb)
{
	return verb == DLKI_RENEW || verb == DLKI_DOWNGRADE ||
	       verb == DLKI_WATCH;
}

void dlki_answered(struct dlki_op *op, int stood)
{
	if (!is_open(op))
		return;
	op->stood = stood;
	dlki_ops_end(op, DLKI_ANSWERED,
		     keeps_claim(op->verb) && stood ? DLKI_RESIDUE_MAYBE :
						      DLKI_RESIDUE_NONE);
}

void dlki_watched(struct dlki_op *op, int wanted, uint64_t token_last)
{
	if (!is_open(op))
		return;
	op->wanted = wanted;
	op->token_last = token_last;
	dlki_answered(op, 1);
}

void dlki_busy(struct dlki_op *op, int64_t look_in_ms, uint64_t store_clock_us)
{
	if (!is_open(op))
		return;
	op->look_in_ms = look_in_ms;
	op->store_clock_us = store_clock_us;
	dlki_ops_end(op, DLKI_BUSY, DLKI_RESIDUE_MAYBE);
}

static void keep_error(struct dlki_op *op, const struct dlk_error *err)
{
	op->error = malloc(sizeof(*op->error));
	if (op->error)
		*op->error = *err;
}

void dlki_in_the_way(struct dlki_op *op, const struct dlk_error *err)
{
	if (is_open(op) && !op->error)
		keep_error(op, err);
}

void dlki_again(struct dlki_op *op)
{
	if (is_open(op))
		dlki_ops_end(op, DLKI_AGAIN, DLKI_RESIDUE_NONE);
}

static void end_with(struct dlki_op *op, const struct dlk_error *err,
		     enum dlki_outcome outcome, enum dlki_residue residue)
{
	if (!is_open(op))
		return;
	dlki_ops_end(op, outcome, residue);
	keep_error(op, err);
}

void dlki_failed(struct dlki_op *op, const struct dlk_error *err,
		 enum dlki_residue residue)
{
	end_with(op, err, DLKI_FAILED, residue);
}

void dlki_senseless(struct dlki_op *op, const struct dlk_error *err)
{
	end_with(op, err, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
}

/* ---- Requests: sent on a link, and answered in the same order ------------ */

void dlki_send(struct dlki_link *l, enum dlki_verb verb, struct dlki_op *op,
	       const void *bytes, size_t len)
{
	struct dlki_engine *e = l->engine;
	int64_t serial;

	if (l->cut ||
	    (l->state != DLKI_LINK_GREETING && l->state != DLKI_LINK_UP))
		return;
	serial = dlki_link_append(l, (int)verb, op, bytes, len);
	if (serial < 0) {
		dlki_link_cut(l, DLOCK_ENOMEM, "out of memory");
		return;
	}
	l->probed = verb == DLKI_PING;
	if (op)
		dlki_ops_sent(op, l, (uint64_t)serial);
	/* The alarm derives the due time from the flight: links.c. */
	if (l->alarm.timer.place == 0)
		dlki_alarm_set(&e->alarms, &l->alarm, e->now + e->patience_ns);
}

int dlki_has_output(const struct dlki_link *l)
{
	return dlki_link_has_output(l);
}

int dlki_front(const struct dlki_link *l, struct dlki_front *out)
{
	const struct dlki_slot *slot = dlki_flight_at(&l->flight,
						      l->flight.first);

	/* A server may refuse a connection before it is greeted. */
	if (!slot || (slot->since == 0 && slot->verb != DLKI_GREET))
		return 0;
	out->verb = (enum dlki_verb)slot->verb;
	out->since = slot->since;
	out->began = l->began;
	return 1;
}

struct dlki_op *dlki_front_op(const struct dlki_link *l)
{
	const struct dlki_slot *slot = dlki_flight_at(&l->flight,
						      l->flight.first);

	return slot ? slot->op : NULL;
}

void dlki_pop(struct dlki_link *l)
{
	struct dlki_op *op = dlki_front_op(l);

	if (op)
		dlki_ops_end(op, DLKI_UNANSWERED, DLKI_RESIDUE_MAYBE);
	dlki_flight_pop(&l->flight);
}
