/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/caller.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/memory.h"

static void ask(struct sim_caller *c);

static uint64_t draw(const struct sim_caller *c, const char *site, uint64_t n)
{
	return sim_draw(c->world->net->chance, site, n);
}

static void look_at(struct sim_caller *c, dlk_time at)
{
	c->next_at = at;
	dlki_alarm_set(dlki_engine_alarms(c->engine), &c->alarm, at);
}

static void submit(const struct sim_caller *c, struct dlki_op *op,
		   enum dlki_verb verb)
{
	op->verb = verb;
	op->request = &c->request;
	op->token = c->token;
	if (dlki_submit(c->engine, op) != 0)
		sim_panic("out of memory");
}

/* ---- The end of a claim -------------------------------------------------- */

static void rest(struct sim_caller *c, dlk_time now)
{
	c->state = SIM_IDLE;
	look_at(c, now + (dlk_time)(300 - draw(c, "rest", 300)) * DLK_MS);
}

static void release(struct sim_caller *c, dlk_time now)
{
	if (c->state == SIM_HELD)
		sim_judge_end(c->judge, c->lock, c->number);
	if (c->state != SIM_RELEASING)
		c->release_until = now + 2 * c->terms->lease_ms * DLK_MS;
	c->state = SIM_RELEASING;
	c->rel.deadline = now + 1000 * DLK_MS;
	look_at(c, DLK_FOREVER);
	if (c->rel.state == DLKI_OP_IDLE)
		submit(c, &c->rel, DLKI_RELEASE);
}

static void on_released(struct dlki_op *op, dlk_time now)
{
	struct sim_caller *c =
		(struct sim_caller *)((char *)op -
				      offsetof(struct sim_caller, rel));

	if (op->outcome == DLKI_ANSWERED) {
		c->judge->releases++;
		rest(c, now);
	} else if (now > c->release_until || op->outcome == DLKI_FAILED) {
		rest(c, now);
	} else {
		look_at(c, now + 50 * DLK_MS);
	}
}

/* Nobody waits for the claim any longer. */
static void give_up(struct sim_caller *c, dlk_time now)
{
	if (c->residue)
		release(c, now);
	else
		rest(c, now);
}

/* ---- Holding ------------------------------------------------------------- */

static dlk_time end_of(const struct sim_caller *c, dlk_time since,
		       int64_t lease_ms)
{
	int64_t margin_ms = 2 + lease_ms / 100;

	if (c->terms->margin_ms > margin_ms)
		margin_ms = c->terms->margin_ms;
	return since + (lease_ms - margin_ms) * DLK_MS;
}

static void look_at_hold(struct sim_caller *c, dlk_time now)
{
	dlk_time renew_at = now + c->terms->lease_ms / 3 * DLK_MS;
	dlk_time at = c->end_at < c->keep_until ? c->end_at : c->keep_until;

	look_at(c, renew_at < at ? renew_at : at);
}

static void hold(struct sim_caller *c, dlk_time since, int64_t lease_ms,
		 dlk_time now)
{
	struct sim_hold h = { .caller = c->number,
			      .is_shared = c->request.mode == DLK_SHARED,
			      .token = c->token,
			      .asked_at = c->asked_true };

	c->residue = 1;
	c->end_at = end_of(c, since, lease_ms);
	if (now >= c->end_at || now >= c->give_up_at) {
		release(c, now);
		return;
	}
	h.end_at = sim_world_true(c->world, c->end_at);
	c->state = SIM_HELD;
	c->grant_id = c->ask.id;
	c->keep_until = now + (dlk_time)(2000 - draw(c, "hold", 2000)) * DLK_MS;
	sim_judge_hold(c->judge, c->lock, &h);
	look_at_hold(c, now);
}

static void renew(struct sim_caller *c, dlk_time now)
{
	if (c->ask.state == DLKI_OP_IDLE) {
		c->ask.deadline = c->end_at;
		submit(c, &c->ask, DLKI_RENEW);
	}
	look_at_hold(c, now);
}

static void renewed(struct sim_caller *c, dlk_time now)
{
	dlk_time end = end_of(c, c->ask.since, c->ask.lease_ms);

	if (c->state != SIM_HELD || c->ask.outcome != DLKI_ANSWERED)
		return;
	if (!c->ask.stood || now >= c->end_at) {
		release(c, now);
	} else if (end > c->end_at) {
		c->end_at = end;
		sim_judge_renew(c->judge, c->lock, c->number,
				sim_world_true(c->world, end));
	}
}

/* ---- Asking -------------------------------------------------------------- */

static void park(struct sim_caller *c, dlk_time now)
{
	int64_t look_in_ms = c->ask.look_in_ms;

	c->busy_since = c->ask.since;
	c->busy_clock_us = c->ask.store_clock_us;
	c->residue = 1;
	c->state = SIM_PARKED;
	look_at(c, now + (look_in_ms > 0 ? look_in_ms : 1000) * DLK_MS);
	if (c->give_up_at < c->next_at)
		look_at(c, c->give_up_at);
}

static void on_asked(struct dlki_op *op, dlk_time now)
{
	struct sim_caller *c = (struct sim_caller *)op;

	if (op->verb == DLKI_RENEW) {
		renewed(c, now);
		return;
	}
	switch (op->outcome) {
	case DLKI_GRANTED:
		c->token = op->token;
		hold(c, op->since, op->lease_ms, now);
		break;
	case DLKI_BUSY:
		park(c, now);
		break;
	case DLKI_AGAIN:
		if (now < c->give_up_at)
			ask(c);
		else
			give_up(c, now);
		break;
	default:
		c->residue |= op->outcome != DLKI_UNSENT &&
			      op->residue != DLKI_RESIDUE_NONE;
		give_up(c, now);
	}
}

static void ask(struct sim_caller *c)
{
	c->state = SIM_ASKING;
	c->ask.id = ++c->world->last_id;
	c->ask.again = c->residue;
	c->ask.deadline = c->give_up_at + 1000 * DLK_MS;
	look_at(c, DLK_FOREVER);
	submit(c, &c->ask, DLKI_ATTEMPT);
}

static void begin(struct sim_caller *c, dlk_time now)
{
	if (c->ask.state != DLKI_OP_IDLE || c->rel.state != DLKI_OP_IDLE) {
		look_at(c, now + 10 * DLK_MS);
		return;
	}
	if (c->world->net->is_healed)
		return;
	c->lock = (int)draw(c, "lock", SIM_LOCKS);
	snprintf(c->key, sizeof(c->key), "l%d", c->lock);
	snprintf(c->owner, sizeof(c->owner), "%016x%016x",
		 (unsigned int)c->number, ++c->claims);
	c->request = (struct dlk_request){
		.name = c->key,
		.key = c->key,
		.owner = c->owner,
		.label = "caller",
		.kind = DLK_LOCK,
		.mode = draw(c, "shared", 4) == 0 ? DLK_SHARED : DLK_EXCLUSIVE,
	};
	c->residue = 0;
	c->token = 0;
	c->asked_true = c->world->net->now;
	c->give_up_at = now +
			(dlk_time)(8000 - draw(c, "patience", 8000)) * DLK_MS;
	ask(c);
}

static void ring(struct dlki_alarm *a, dlk_time now)
{
	struct sim_caller *c =
		(struct sim_caller *)((char *)a -
				      offsetof(struct sim_caller, alarm));

	if (now < c->next_at) {
		look_at(c, c->next_at);
	} else if (c->state == SIM_IDLE) {
		begin(c, now);
	} else if (c->state == SIM_PARKED) {
		if (now < c->give_up_at)
			ask(c);
		else
			give_up(c, now);
	} else if (c->state == SIM_HELD) {
		if (now >= c->end_at || now >= c->keep_until)
			release(c, now);
		else
			renew(c, now);
	} else if (c->state == SIM_RELEASING) {
		release(c, now);
	}
}

/* ---- For the client ------------------------------------------------------ */

void sim_caller_begin(struct sim_caller *c, struct dlki_engine *engine,
		      struct sim_world *world, struct sim_judge *judge,
		      const struct dlki_terms *terms, int number)
{
	*c = (struct sim_caller){ .engine = engine,
				  .world = world,
				  .judge = judge,
				  .terms = terms,
				  .number = number };
	c->ask.done = on_asked;
	c->rel.done = on_released;
	c->alarm.ring = ring;
	if (dlki_alarms_reserve(dlki_engine_alarms(engine), 1) != 0)
		sim_panic("out of memory");
	rest(c, world->base.type->now(&world->base));
}

int sim_caller_rests(const struct sim_caller *c)
{
	return c->state == SIM_IDLE && c->ask.state == DLKI_OP_IDLE &&
	       c->rel.state == DLKI_OP_IDLE;
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
		ask(c);
}

void sim_caller_gone(struct sim_caller *c, uint64_t id, dlk_time now)
{
	if (c->state == SIM_HELD && (id == 0 || c->grant_id == id))
		release(c, now);
}
