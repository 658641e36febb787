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

/* ---- Another number of permits ------------------------------------------- */

static void resize(struct sim_caller *c, uint32_t limit, dlk_time now)
{
	c->request.limit = limit;
	c->asked_true = c->world->net->now;
	c->ask.deadline = now + SIM_PATIENCE_MS * DLK_MS;
	sim_step_at(c, DLK_FOREVER);
	if (sim_step_submit(c, &c->ask, DLKI_RESIZE) != 0)
		sim_step_rest(c, now);
	else
		sim_judge_resize(c->judge, limit);
}

static void resize_ended(struct sim_caller *c, dlk_time now)
{
	int is_answered = c->ask.outcome == DLKI_ANSWERED;

	sim_judge_resized(c->judge, c->request.limit, c->asked_true,
			  is_answered && c->ask.stood, is_answered);
	sim_step_rest(c, now);
}

/* ---- Breaks -------------------------------------------------------------- */

void sim_break_begin(struct sim_caller *c, dlk_time now)
{
	uint32_t limit;

	sim_plan_request(c);
	c->request.owner = NULL;
	c->state = SIM_BREAKING;
	limit = sim_plan_resize(c);
	if (limit > 0) {
		resize(c, limit, now);
		return;
	}
	c->token = 0;
	c->about[0] = '\0';
	c->ask.about = c->about;
	c->give_up_at = now + INT64_C(2) * SIM_PATIENCE_MS * DLK_MS;
	sim_judge_break(c->judge, c->number, c->lock, c->about);
	ask(c, now);
}

void sim_break_ended(struct sim_caller *c, dlk_time now)
{
	if (c->ask.verb == DLKI_RESIZE)
		resize_ended(c, now);
	else if (c->ask.outcome == DLKI_AGAIN && now < c->give_up_at)
		ask(c, now);
	else
		end(c, c->ask.outcome == DLKI_ANSWERED, now);
}

void sim_break_cut(struct sim_caller *c)
{
	if (c->ask.verb == DLKI_BREAK)
		sim_judge_broken(c->judge, c->number, 0);
}
