/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/step.h"

#include "sim/plan.h"

void sim_step_at(struct sim_caller *c, dlk_time at)
{
	c->next_at = at;
	dlki_alarm_set(&c->engine->alarms, &c->alarm, at);
}

int sim_step_submit(const struct sim_caller *c, struct dlki_op *op,
		    enum dlki_verb verb)
{
	static const char *const names[] = {
		[DLKI_ATTEMPT] = "asks for", [DLKI_RENEW] = "renews",
		[DLKI_RELEASE] = "releases", [DLKI_DOWNGRADE] = "downgrades",
		[DLKI_BREAK] = "breaks",     [DLKI_RESIZE] = "resizes"
	};
	int is_claim = verb != DLKI_BREAK && verb != DLKI_RESIZE;

	sim_net_note(c->world->net, "caller %d %s lock %d", c->number,
		     names[verb], c->lock);
	op->verb = verb;
	op->request = &c->request;
	op->token = c->token;
	op->claim = is_claim ? c->claim : NULL;
	return dlki_submit(c->engine, op);
}

void sim_step_check_time(const struct sim_caller *c, dlk_time due, dlk_time now,
			 const char *what)
{
	if (now > due + DLK_MS &&
	    sim_world_true(c->world, due) > c->world->resumed_at)
		sim_judge_fault(c->judge, "caller %d: %s comes late", c->number,
				what);
}

void sim_step_rest(struct sim_caller *c, dlk_time now)
{
	c->state = SIM_IDLE;
	sim_step_at(c, now + sim_plan_rest(c));
}
