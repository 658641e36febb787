/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller: a script that acquires, renews, holds and releases locks by ops of
 * the engine, and draws the next step, until the weather is over.  It keeps the
 * rules of a claim: a lease counts from before the request was written, and a
 * possible residue in the store is released.
 */
#ifndef DLOCK_SIM_CALLER_H
#define DLOCK_SIM_CALLER_H

#include "core/loop/engine.h"
#include "sim/judge.h"
#include "sim/world/world.h"

enum sim_caller_state {
	SIM_IDLE,     /* begins again at next_at */
	SIM_ASKING,
	SIM_PARKED,   /* asks again at next_at, or when it is woken */
	SIM_HELD,
	SIM_RELEASING
};

struct sim_caller {
	struct dlki_op ask, rel; /* `ask` first: the op's done() casts */
	struct dlki_alarm alarm;
	struct dlki_engine *engine;
	struct sim_world *world;
	struct sim_judge *judge;
	int number;              /* of all callers, from 1 */
	unsigned int claims;     /* so far */

	enum sim_caller_state state;
	int lock;
	char key[8], owner[33];
	struct dlk_request request;
	dlk_time next_at, give_up_at, end_at, keep_until;
	int64_t asked_true;      /* when the claim was asked for first */
	int residue;             /* the store may have something of ours */
	uint64_t token, grant_id;
	dlk_time busy_since;     /* of the last ask; and the store's clock */
	uint64_t busy_clock_us;
	dlk_time release_until;
	const struct dlki_terms *terms;
};

void sim_caller_begin(struct sim_caller *c, struct dlki_engine *engine,
		      struct sim_world *world, struct sim_judge *judge,
		      const struct dlki_terms *terms, int number);

/* Whether nothing is under way. */
int sim_caller_rests(const struct sim_caller *c);

/* News; each for the caller whose attempt has the id, 0 for all. */
void sim_caller_pushed(struct sim_caller *c, uint64_t id, uint64_t token,
		       uint64_t clock_us, int64_t lease_ms, dlk_time now);
void sim_caller_wake(struct sim_caller *c, uint64_t id, dlk_time now);
void sim_caller_gone(struct sim_caller *c, uint64_t id, dlk_time now);

#endif
