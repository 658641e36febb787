/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/caller.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/breaking.h"
#include "sim/plan.h"
#include "sim/step.h"

static void ask(struct sim_caller *c, dlk_time now);

static uint64_t draw(const struct sim_caller *c, const char *site, uint64_t n)
{
	return sim_draw(c->world->net->chance, site, n);
}

/* ---- The end of a claim -------------------------------------------------- */

static void end(struct sim_caller *c, dlk_time now)
{
	sim_judge_over(c->judge, c->number, c->life, c->claims);
	sim_step_rest(c, now);
}

static void release(struct sim_caller *c, dlk_time now)
{
	if (c->state == SIM_HELD)
		sim_judge_end(c->judge, c->lock, c->number);
	if (c->state != SIM_CLEANING)
		c->state = SIM_RELEASING;
	c->rel.deadline = now + SIM_PATIENCE_MS * DLK_MS;
	sim_step_at(c, DLK_FOREVER);
	if (sim_step_submit(c, &c->rel, DLKI_RELEASE) != 0)
		sim_step_at(c, now + 50 * DLK_MS);
}

/*
 * An unanswered attempt may be under way on a lost connection, as long as a
 * lease from the first answer on another connection: only then does a stopped
 * server read all connections.
 */
static void on_released(struct dlki_op *op, dlk_time now)
{
	struct sim_caller *c =
		(struct sim_caller *)((char *)op -
				      offsetof(struct sim_caller, rel));

	sim_step_check_time(c, op->deadline, now, "the end of a release");
	if (c->is_dead)
		return;
	if (op->outcome != DLKI_ANSWERED) {
		sim_step_at(c, now + 50 * DLK_MS);
		return;
	}
	c->judge->releases++;
	if (c->clean_from == 0)
		c->clean_from = now + c->agreed->lease_ms * DLK_MS;
	if (!c->may_arrive || op->since >= c->clean_from) {
		end(c, now);
	} else {
		c->state = SIM_CLEANING;
		sim_step_at(c, c->clean_from);
	}
}

/* The program waits for the claim no longer. */
static void give_up(struct sim_caller *c, dlk_time now)
{
	if (c->residue)
		release(c, now);
	else
		end(c, now);
}

/* End the attempt under way, or release right behind it. */
static void cancel(struct sim_caller *c, dlk_time now)
{
	sim_step_at(c, DLK_FOREVER);
	c->give_up_at = now;
	if (draw(c, "cancel:how", 2) == 0) {
		dlki_cancel(&c->ask);
	} else {
		c->residue = 1;
		release(c, now);
	}
}

/* ---- Holding ------------------------------------------------------------- */

static dlk_time end_of(const struct sim_caller *c, dlk_time since,
		       int64_t lease_ms)
{
	int64_t margin_ms = 2 + lease_ms / 100;

	if (c->agreed->margin_ms > margin_ms)
		margin_ms = c->agreed->margin_ms;
	return since + (lease_ms - margin_ms) * DLK_MS;
}

static void look_at_hold(struct sim_caller *c, dlk_time now)
{
	dlk_time renew_at = now + c->agreed->lease_ms / 3 * DLK_MS;
	dlk_time at = c->end_at < c->keep_until ? c->end_at : c->keep_until;

	sim_step_at(c, renew_at < at ? renew_at : at);
}

static void hold(struct sim_caller *c, dlk_time since, int64_t lease_ms,
		 dlk_time now)
{
	struct sim_hold h = { .caller = c->number,
			      .is_shared = c->request.mode == DLK_SHARED,
			      .permits = c->request.permits,
			      .token = c->token,
			      .beside = c->beside_token,
			      .is_misled = sim_world_is_misled(c->world,
							       c->asked_true),
			      .asked_at = c->asked_true };

	c->residue = 1;
	c->end_at = end_of(c, since, lease_ms);
	if (now >= c->end_at || now >= c->give_up_at) {
		release(c, now);
		return;
	}
	h.end_at = sim_world_true(c->world, c->end_at);
	c->state = SIM_HELD;
	c->keep_until = now + sim_plan_hold(c);
	c->downgrades = sim_plan_downgrade(c);
	sim_judge_hold(c->judge, c->lock, &h);
	look_at_hold(c, now);
}

static void renew(struct sim_caller *c, dlk_time now)
{
	if (c->ask.state == DLKI_OP_IDLE) {
		c->ask.deadline = c->end_at;
		(void)sim_step_submit(c, &c->ask, DLKI_RENEW);
	}
	look_at_hold(c, now);
}

/* The store has the claim no longer, or the lease has ended. */
static void lose(struct sim_caller *c, dlk_time now)
{
	if (now < c->end_at)
		sim_judge_lost(c->judge, c->lock, c->number);
	sim_step_check_time(c, c->end_at, now, "the loss");
	sim_judge_end(c->judge, c->lock, c->number);
	c->state = SIM_LOST;
	sim_step_at(c, now + (dlk_time)draw(c, "lost", 100) * DLK_MS);
}

/* Return when the renewal that began the lease was sent, not a confirmation. */
static int64_t renewed_from(const struct sim_caller *c)
{
	int64_t late_ms = c->agreed->lease_ms - c->ask.lease_ms;

	return sim_world_true(c->world, c->ask.since - late_ms * DLK_MS);
}

static void renewed(struct sim_caller *c, dlk_time now)
{
	dlk_time end_at = end_of(c, c->ask.since, c->ask.lease_ms);

	if (c->state != SIM_HELD || c->ask.outcome != DLKI_ANSWERED)
		return;
	if (!c->ask.stood || now >= c->end_at) {
		lose(c, now);
	} else if (end_at > c->end_at) {
		c->end_at = end_at;
		sim_judge_renew(c->judge, c->lock, c->number, renewed_from(c),
				sim_world_true(c->world, end_at));
	}
}

/* From now on others may share the lock: the answer may be late. */
static void downgrade(struct sim_caller *c, dlk_time now)
{
	c->downgrades = 0;
	c->keep_until = now + sim_plan_hold(c);
	c->ask.deadline = c->end_at;
	sim_judge_share(c->judge, c->lock, c->number);
	if (sim_step_submit(c, &c->ask, DLKI_DOWNGRADE) != 0)
		c->downgrades = 1;
	look_at_hold(c, now);
}

static void downgraded(struct sim_caller *c, dlk_time now)
{
	if (c->state != SIM_HELD)
		return; /* the release is behind it */
	if (c->ask.outcome != DLKI_ANSWERED) {
		c->downgrades = 1;
	} else if (c->ask.stood) {
		c->request.mode = DLK_SHARED;
		sim_judge_shared(c->judge, c->lock, c->number,
				 sim_world_true(c->world, c->ask.since),
				 c->owner);
	} else {
		lose(c, now);
	}
}

/* ---- Asking -------------------------------------------------------------- */

static void park(struct sim_caller *c, dlk_time now, int64_t look_in_ms)
{
	c->state = SIM_PARKED;
	sim_step_at(c, now + look_in_ms * DLK_MS);
	if (c->give_up_at < c->next_at)
		sim_step_at(c, c->give_up_at);
}

static void busy(struct sim_caller *c, dlk_time now)
{
	c->judge->conflicts++;
	c->residue = 1;
	c->busy_since = c->ask.since;
	c->busy_clock_us = c->ask.store_clock_us;
	park(c, now, c->ask.look_in_ms > 0 ? c->ask.look_in_ms : 1000);
}

/* After no answer, or an error of the moment. */
static void try_again(struct sim_caller *c, dlk_time now)
{
	if (c->ask.since != 0) {
		c->busy_since = c->ask.since;
		c->busy_clock_us = 0;
	}
	if (now < c->give_up_at)
		park(c, now, 20 + (int64_t)draw(c, "backoff", 80));
	else
		give_up(c, now);
}

static void on_asked(struct dlki_op *op, dlk_time now)
{
	struct sim_caller *c = (struct sim_caller *)op;

	sim_step_check_time(c, op->deadline, now, "the end of an op");
	c->may_arrive |= op->verb == DLKI_ATTEMPT &&
			 op->outcome == DLKI_UNANSWERED;
	if (c->is_dead)
		return;
	if (op->verb == DLKI_RENEW) {
		renewed(c, now);
	} else if (op->verb == DLKI_DOWNGRADE) {
		downgraded(c, now);
	} else if (c->state == SIM_BREAKING) {
		sim_break_ended(c, now);
	} else if (c->state != SIM_ASKING) {
		return; /* the release is behind it */
	} else if (op->outcome == DLKI_GRANTED) {
		c->token = op->token;
		hold(c, op->since, op->lease_ms, now);
	} else if (op->outcome == DLKI_BUSY) {
		busy(c, now);
	} else if (op->outcome == DLKI_AGAIN && now < c->give_up_at) {
		ask(c, now);
	} else {
		c->residue |= op->residue != DLKI_RESIDUE_NONE;
		try_again(c, now);
	}
}

static void ask(struct sim_caller *c, dlk_time now)
{
	c->state = SIM_ASKING;
	c->ask.id = ++c->world->last_id;
	c->ask.again = c->residue;
	c->ask.deadline = c->give_up_at + SIM_PATIENCE_MS * DLK_MS;
	sim_step_at(c, c->cancels ? c->give_up_at : DLK_FOREVER);
	if (sim_step_submit(c, &c->ask, DLKI_ATTEMPT) != 0)
		park(c, now, 50);
}

static void begin(struct sim_caller *c, dlk_time now)
{
	if (c->ask.state != DLKI_OP_IDLE || c->rel.state != DLKI_OP_IDLE) {
		sim_step_at(c, now + 10 * DLK_MS);
		return;
	}
	if (c->world->net->is_healed)
		return;
	if (sim_plan_break(c)) {
		sim_break_begin(c, now);
		return;
	}
	if (c->claim)
		memset(c->claim, 0, c->claim_size);
	sim_plan_request(c);
	c->clean_from = c->busy_since = c->residue = c->may_arrive = 0;
	c->token = c->busy_clock_us = 0;
	c->asked_true = c->world->net->now;
	c->give_up_at = now + sim_plan_patience(c);
	ask(c, now);
}

static void ring(struct dlki_alarm *a, dlk_time now)
{
	struct sim_caller *c =
		(struct sim_caller *)((char *)a -
				      offsetof(struct sim_caller, alarm));

	if (now < c->next_at)
		sim_step_at(c, c->next_at);
	else if (c->state == SIM_IDLE)
		begin(c, now);
	else if (c->state == SIM_ASKING)
		cancel(c, now);
	else if (c->state == SIM_PARKED)
		sim_caller_wake(c, 0, now);
	else if (c->state == SIM_HELD && now >= c->end_at)
		lose(c, now);
	else if (c->state == SIM_HELD && now < c->keep_until)
		renew(c, now);
	else if (c->state == SIM_HELD && c->downgrades &&
		 c->ask.state == DLKI_OP_IDLE)
		downgrade(c, now);
	else
		release(c, now);
}

/* ---- For the client ------------------------------------------------------ */

void sim_caller_begin(struct sim_caller *c)
{
	c->ask.done = on_asked;
	c->rel.done = on_released;
	c->alarm.ring = ring;
	if (c->claim_size > 0)
		c->claim = sim_alloc(c->claim_size);
	if (dlki_alarms_reserve(&c->engine->alarms, 1) != 0)
		sim_panic("out of memory");
	sim_step_rest(c, c->world->base.type->now(&c->world->base));
}

void sim_caller_end(struct sim_caller *c)
{
	if (c->state == SIM_HELD)
		sim_judge_end(c->judge, c->lock, c->number);
	if (c->state == SIM_BREAKING)
		sim_break_cut(c);
	c->is_dead = 1;
}

void sim_caller_heal(struct sim_caller *c)
{
	dlk_time now = c->world->base.type->now(&c->world->base);

	if (c->state == SIM_HELD) {
		c->keep_until = now;
		sim_step_at(c, now);
	}
}

int sim_caller_is_idle(const struct sim_caller *c)
{
	return c->ask.state == DLKI_OP_IDLE && c->rel.state == DLKI_OP_IDLE;
}

void sim_caller_pushed(struct sim_caller *c, uint64_t id, uint64_t token,
		       uint64_t clock_us, int64_t lease_ms, dlk_time now)
{
	dlk_time since = c->busy_since;

	if (c->ask.id != id || c->state != SIM_PARKED)
		return;
	if (clock_us != 0 && c->busy_clock_us != 0) {
		if (clock_us < c->busy_clock_us)
			return;
		since += (dlk_time)(clock_us - c->busy_clock_us) * 1000;
	}
	c->token = token;
	hold(c, since, lease_ms, now);
}

void sim_caller_wake(struct sim_caller *c, uint64_t id, dlk_time now)
{
	if ((id != 0 && c->ask.id != id) || c->state != SIM_PARKED)
		return;
	if (now < c->give_up_at)
		ask(c, now);
	else
		give_up(c, now);
}

void sim_caller_check(struct sim_caller *c, dlk_time now)
{
	if (c->state == SIM_HELD)
		renew(c, now);
}
