/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/strike.h"

#include <inttypes.h>
#include <netdb.h>

#include "sim/world/timer.h"

static const int64_t ms = 1000000;

static struct sim_server *master(const struct sim_strikes *s)
{
	return &s->net->servers[s->net->master];
}

static int happens(const struct sim_strikes *s, const char *site, uint64_t rate)
{
	return sim_happens(s->net->chance, site, rate);
}

/* Of [1, n] ms, a time from now. */
static int64_t draw_time(const struct sim_strikes *s, const char *site,
			 uint64_t n)
{
	return s->net->now +
	       (int64_t)(1 + sim_draw(s->net->chance, site, n)) * ms;
}

/* The store has lost keys. */
static void lose(struct sim_strikes *s, const char *what)
{
	sim_net_note(s->net, "the server %s", what);
	if (s->judge->lost_at < s->net->now)
		s->judge->lost_at = s->net->now;
}

/* ... by a restart.  A proxy lets requests of the next second through to the
 * next run. */
static void lose_run(struct sim_strikes *s, const char *what)
{
	lose(s, what);
	if (s->net->weather.proxied)
		s->judge->lost_at += 1000 * ms;
}

/* For longer than a claim made before may stand. */
static void stop(struct sim_strikes *s)
{
	const struct sim_weather *w = &s->net->weather;
	uint64_t linger_ms = (uint64_t)sim_model_linger_ms(master(s)->model);
	int64_t until;

	if (!happens(s, "stop", w->stop))
		return;
	until = draw_time(s, "stop:for", 3 * w->lease_ms + linger_ms);
	sim_net_stop(s->net, master(s), until - s->net->now,
		     (int)sim_draw(s->net->chance, "stop:host", 2));
}

static void restart(struct sim_strikes *s)
{
	const struct sim_weather *w = &s->net->weather;
	struct sim_model *model = master(s)->model;

	if (happens(s, "restart", w->restart)) {
		if (sim_model_keeps_memory(model))
			sim_net_note(s->net, "the server restarts");
		else
			lose_run(s, "restarts");
		sim_model_restart(model, 1, sim_server_time(s->net, master(s)));
		sim_model_set_loading(model, 1);
		s->loading_until = draw_time(s, "loading:for", 500);
	}
	if (happens(s, "blank", w->blank_restart)) {
		lose_run(s, "restarts with nothing");
		sim_model_restart(model, 0, sim_server_time(s->net, master(s)));
	}
	if (s->loading_until <= s->net->now)
		sim_model_set_loading(model, 0);
}

static void forget(struct sim_strikes *s)
{
	const struct sim_weather *w = &s->net->weather;
	struct sim_model *model = master(s)->model;

	if (happens(s, "flush", w->flush)) {
		lose(s, "is flushed");
		sim_model_flush(model);
	}
	if (happens(s, "evict", w->evict)) {
		lose(s, "evicts a key");
		sim_model_evict(model,
				sim_draw(s->net->chance, "evict:key", 64));
	}
	if (happens(s, "forget", w->forget)) {
		sim_net_note(s->net, "the server forgets without a loss");
		if (sim_model_forget(model, (uint64_t)s->net->now))
			s->judge->moved_at = s->net->now;
	}
}

static void fill(struct sim_strikes *s)
{
	const struct sim_weather *w = &s->net->weather;

	if (happens(s, "full", w->full)) {
		sim_net_note(s->net, "the server is full");
		sim_model_set_full(master(s)->model, 1);
		s->full_until = draw_time(s, "full:for", 2 * w->lease_ms);
	}
	if (s->full_until <= s->net->now)
		sim_model_set_full(master(s)->model, 0);
}

static void step_clock(struct sim_strikes *s)
{
	const struct sim_weather *w = &s->net->weather;
	int64_t by_ms;

	if (!happens(s, "step", w->step))
		return;
	by_ms = 1 + (int64_t)sim_draw(s->net->chance, "step:by", w->lease_ms);
	if (sim_draw(s->net->chance, "step:back", 2) == 0) {
		if (sim_model_goes_by_wall(master(s)->model))
			s->judge->set_forward_at = s->net->now;
	} else {
		s->judge->set_back_ms += by_ms;
		by_ms = -by_ms;
	}
	master(s)->wall_us += by_ms * 1000;
	sim_net_note(s->net, "the server's clock is set by %" PRId64 " ms",
		     by_ms);
}

/* Never to another server alone: no client could tell.  A name with which no
 * client can be opened is put right soon. */
static void rename_servers(struct sim_strikes *s)
{
	enum { ONE, BOTH, NOBODY, OTHER, AWAY, NO_NAME, KINDS };
	struct sim_net *n = s->net;
	int is_due = s->rename_at <= n->now;
	int kind = (int)sim_draw(n->chance, "name:kind",
				 is_due ? NOBODY : KINDS);
	unsigned int places = sim_net_places(n->master);
	/* One address of each server. */
	unsigned int some = sim_draw(n->chance, "name:some", 2) ? 0x5 : 0xa;

	if (kind != BOTH && kind != NOBODY)
		places &= some;
	if (kind == NOBODY)
		places |= 1u << SIM_NOBODY;
	if (kind == OTHER && n->n_servers == 2)
		places |= sim_net_places(1 - n->master) & some;
	n->name = places;
	n->name_fails = kind == AWAY ? EAI_AGAIN : 0;
	if (kind == NO_NAME)
		n->name_fails = EAI_NONAME;
	s->rename_at = kind > BOTH ? draw_time(s, "name:for", 2000) : SIM_NEVER;
	sim_net_note(n, "the name has places %x, error %d", places,
		     n->name_fails);
}

static void lead_elsewhere(struct sim_strikes *s)
{
	const struct sim_net *n = s->net;

	if (n->weather.has_name &&
	    (s->rename_at <= n->now || happens(s, "rename", n->weather.rename)))
		rename_servers(s);
}

/* The other server, with keys of a while ago, takes over. */
static void fail_over(struct sim_strikes *s)
{
	struct sim_net *n = s->net;
	struct sim_server *old = master(s);
	struct sim_server *other = &n->servers[1 - n->master];

	if (n->weather.fail_over == 0)
		return;
	other->is_down &= s->down_until > n->now;
	if (other->is_down)
		return;
	if (happens(s, "replicate", 4))
		sim_model_copy(other->model, old->model);
	if (!happens(s, "failover", n->weather.fail_over))
		return;
	lose(s, "fails, and the replica takes over");
	n->late_at = n->now;
	n->master = 1 - n->master;
	sim_model_restart(old->model, 0, sim_server_time(n, old));
	sim_model_set_full(old->model, 0);
	sim_model_set_replica(old->model, 1);
	old->is_down = 1;
	other->wall_us = old->wall_us;
	s->down_until = draw_time(s, "down:for", 2000);
	if (n->weather.has_name)
		s->rename_at = draw_time(s, "failover:name", 2000);
	sim_model_set_replica(other->model, 0);
}

void sim_strike(struct sim_strikes *s)
{
	stop(s);
	restart(s);
	forget(s);
	fill(s);
	step_clock(s);
	fail_over(s);
	lead_elsewhere(s);
}

void sim_strike_heal(struct sim_strikes *s)
{
	sim_model_set_full(master(s)->model, 0);
	sim_model_set_loading(master(s)->model, 0);
}
