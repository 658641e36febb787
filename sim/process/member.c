/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/member.h"

#include "sim/process/sched.h"

enum { US = 1000, UP_US = 100000000 };

#define WALL_US (INT64_C(1700000000) * 1000000)

struct sim_memc_time sim_member_now(void)
{
	int64_t us = sim_sched_now() / US;

	return (struct sim_memc_time){ us + UP_US, us + WALL_US };
}

static int64_t tick_due(const struct sim_member *m)
{
	int64_t us = sim_model_due(m->model);

	return us == INT64_MAX ? SIM_FOREVER : (us - UP_US) * US;
}

void sim_member_begin(struct sim_member *m, enum sim_kind kind)
{
	*m = (struct sim_member){ .loading_until = SIM_FOREVER };
	m->model = sim_model_new(kind, 1, sim_member_now());
	m->tick_at = tick_due(m);
}

void sim_member_end(struct sim_member *m)
{
	sim_model_free(m->model);
	m->model = NULL;
}

void sim_member_heal(struct sim_member *m)
{
	m->stopped_until = m->rested_at = m->grown_at = 0;
	m->cut_until = m->down_until = 0;
}

void sim_member_restart(struct sim_member *m, struct sim_chance *chance,
			int memory, uint64_t down_us)
{
	int64_t down = (int64_t)(1 + sim_draw(chance, "down", down_us)) * US;

	sim_model_restart(m->model, memory, sim_member_now());
	m->tick_at = tick_due(m);
	m->down_until = sim_sched_now() + down;
	m->loading_until = m->down_until + down;
	sim_model_set_loading(m->model, 1);
}

int64_t sim_member_due(const struct sim_member *m)
{
	int64_t at = m->tick_at < m->loading_until ? m->tick_at :
						     m->loading_until;

	return at > m->stopped_until ? at : m->stopped_until;
}

/* A server that was stopped reads the connections before the timer rings. */
static void tick(struct sim_member *m, struct sim_chance *chance,
		 uint64_t late_rate)
{
	if (m->stopped_until > m->tick_at) {
		m->tick_at = sim_sched_now() +
			     (int64_t)(1 + sim_draw(chance, "tick", 100000)) *
				     US;
		return;
	}
	sim_model_ring(m->model, sim_member_now());
	m->tick_at = tick_due(m);
	if (sim_happens(chance, "late tick", late_rate))
		m->tick_at += (int64_t)sim_draw(chance, "late", 1200000) * US;
}

void sim_member_ring(struct sim_member *m, struct sim_chance *chance,
		     uint64_t late_rate)
{
	if (sim_member_due(m) > sim_sched_now())
		return;
	if (m->tick_at <= sim_sched_now())
		tick(m, chance, late_rate);
	if (m->loading_until > sim_sched_now())
		return;
	m->loading_until = SIM_FOREVER;
	sim_model_set_loading(m->model, 0);
}
