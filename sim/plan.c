/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/plan.h"

#include <stdio.h>
#include <string.h>

static const uint64_t most_us[] = { 10, 1000, 50000, 2000000 };

static uint64_t draw(const struct sim_caller *c, const char *site, uint64_t n)
{
	return sim_draw(c->world->net->chance, site, n);
}

/* Draw whether the claim is the upgrade of a reader of the same client. */
static void plan_upgrade(struct sim_caller *c)
{
	c->beside_token = 0;
	if (!(c->agreed->caps & DLOCK_CAP_UPGRADE))
		return;
	for (int i = 0; i < c->n_others; i++) {
		const struct sim_caller *r = &c->others[i];

		if (r->state != SIM_HELD || r->lock == SIM_SEMAPHORE ||
		    r->request.mode != DLK_SHARED || draw(c, "upgrade", 2) == 0)
			continue;
		c->lock = r->lock;
		memcpy(c->key, r->key, sizeof(c->key));
		memcpy(c->beside, r->owner, sizeof(c->beside));
		c->beside_token = r->token;
		c->request.kind = DLK_LOCK;
		c->request.mode = DLK_EXCLUSIVE;
		c->request.limit = 0;
		c->request.permits = 1;
		c->request.beside = c->beside;
		return;
	}
}

void sim_plan_request(struct sim_caller *c)
{
	int is_semaphore;

	c->lock = (int)draw(c, "lock", SIM_LOCKS);
	is_semaphore = c->lock == SIM_SEMAPHORE;
	snprintf(c->key, sizeof(c->key), "%c%d", is_semaphore ? 's' : 'l',
		 c->lock);
	sim_judge_owner(c->owner, c->number, c->life, ++c->claims);
	c->request = (struct dlk_request){
		.name = c->key,
		.key = c->key,
		.owner = c->owner,
		.label = "caller",
		.kind = is_semaphore ? DLK_SEMAPHORE : DLK_LOCK,
		.mode = is_semaphore || draw(c, "shared", 4) == 0 ?
				DLK_SHARED :
				DLK_EXCLUSIVE,
		.limit = is_semaphore ? SIM_PERMITS : 0,
	};
	c->request.permits = 1;
	if (is_semaphore && c->agreed->caps & DLOCK_CAP_PERMITS)
		c->request.permits = 1 +
				     (uint32_t)draw(c, "permits", SIM_PERMITS);
	plan_upgrade(c);
}

/* A cancelling program does so about when the answer comes. */
dlk_time sim_plan_patience(struct sim_caller *c)
{
	uint64_t most_us = 4 * c->world->net->weather.delay_us + 500;

	c->cancels = draw(c, "cancel", 6) == 5;
	if (c->cancels)
		return 1000 * (dlk_time)draw(c, "cancel:in", most_us);
	return (dlk_time)(8000 - draw(c, "patience", 8000)) * DLK_MS;
}

int sim_plan_break(const struct sim_caller *c)
{
	const struct sim_net *n = c->world->net;

	return sim_happens(n->chance, "break", n->weather.breaks);
}

uint32_t sim_plan_resize(const struct sim_caller *c)
{
	if (c->lock != SIM_SEMAPHORE || !(c->agreed->caps & DLOCK_CAP_RESIZE) ||
	    draw(c, "resize", 4) == 0)
		return 0;
	return 1 + (uint32_t)draw(c, "limit", UINT64_C(2) * SIM_PERMITS);
}

int sim_plan_downgrade(const struct sim_caller *c)
{
	const struct sim_net *n = c->world->net;

	return c->request.mode == DLK_EXCLUSIVE &&
	       sim_happens(n->chance, "downgrade", n->weather.downgrade);
}

/* Most are short, and in most seeds some holds need renewals. */
static dlk_time draw_time(const struct sim_caller *c, const char *site)
{
	uint64_t most = most_us[draw(c, site, c->world->net->weather.times)];

	if (c->world->net->is_healed)
		return 0;
	return 1000 * (dlk_time)draw(c, "time", most);
}

dlk_time sim_plan_hold(const struct sim_caller *c)
{
	return draw_time(c, "hold");
}

dlk_time sim_plan_rest(const struct sim_caller *c)
{
	return DLK_MS + draw_time(c, "rest") / 4;
}
