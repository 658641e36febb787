/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/breaking.h"

#include "sim/plan.h"
#include "sim/step.h"

static void end(struct sim_caller *c, int is_done, dlk_time now)
{
	sim_judge_broken(c->judge, c->number, is_done);
	sim_step_rest(c, now);
}

static void ask(struct sim_caller *c, dlk_time now)
{
	c->ask.deadline = now + SIM_PATIENCE_MS * DLK_MS;
	sim_step_at(c, DLK_FOREVER);
	if (sim_step_submit(c, &c->ask, DLKI_BREAK) != 0)
		end(c, 0, now);
}

void sim_break_begin(struct sim_caller *c, dlk_time now)
{
	sim_plan_request(c);
	c->request.owner = NULL;
	c->state = SIM_BREAKING;
	c->token = 0;
	c->about[0] = '\0';
	c->ask.about = c->about;
	c->give_up_at = now + 2 * SIM_PATIENCE_MS * DLK_MS;
	sim_judge_break(c->judge, c->number, c->lock, c->about);
	ask(c, now);
}

void sim_break_ended(struct sim_caller *c, dlk_time now)
{
	if (c->ask.outcome == DLKI_AGAIN && now < c->give_up_at)
		ask(c, now);
	else
		end(c, c->ask.outcome == DLKI_ANSWERED, now);
}
