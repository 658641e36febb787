/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/timer.h"

/* A client relies on a count for so long after the count advanced. */
enum { US = 1000, TRUSTED_US = 2000000 };

/* A machine that sleeps counts no time. */
static int64_t awake_us(const struct sim_net *n, const struct sim_server *s)
{
	int64_t now = s->is_stopped && s->sleeps ? s->stopped_at : n->now;

	return now / US - s->slept_us;
}

struct sim_memc_time sim_server_time(const struct sim_net *n,
				     const struct sim_server *s)
{
	return (struct sim_memc_time){
		.up_us = s->up_us + awake_us(n, s),
		.wall_us = s->wall_us + n->now / US,
	};
}

int64_t sim_timer_due(const struct sim_server *s)
{
	int64_t at_us = sim_model_due(s->model);
	int64_t at;

	if (at_us == INT64_MAX)
		return SIM_NEVER;
	at = (at_us + s->late_us - s->up_us + s->slept_us) * US;
	return s->is_stopped && at < s->stopped_until ? s->stopped_until : at;
}

/* A timer is late on a busy machine. */
void sim_timer_ring(struct sim_net *n, struct sim_server *s)
{
	sim_model_ring(s->model, sim_server_time(n, s));
	if (s->caught_up_at == SIM_NEVER)
		s->caught_up_at = n->now;
	s->late_us = 0;
	if (sim_happens(n->chance, "late", n->weather.late))
		s->late_us = (int64_t)sim_draw(n->chance, "late:by",
					       SIM_LATE_MS * UINT64_C(1000));
}

int sim_timer_is_behind(const struct sim_server *s)
{
	return s->caught_up_at == SIM_NEVER && s->late_us > TRUSTED_US;
}

void sim_timer_resume(const struct sim_net *n, struct sim_server *s)
{
	int64_t late_us = (n->now - sim_timer_due(s)) / US;

	if (late_us > 0)
		s->late_us += late_us +
			      (int64_t)sim_draw(n->chance, "stop:ring", 200000);
}
