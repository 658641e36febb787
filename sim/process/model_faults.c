/* SPDX-License-Identifier: Apache-2.0 */
/* The faults of model servers, and of the ways there. */
#include "sim/process/models.h"
#include "sim/process/sched.h"

enum { US = 1000 };

/* The wire on which a client has sent bytes, and the server there. */
struct stricken {
	struct sim_models *all;
	struct sim_wire *wire;
	struct sim_member *member;
	size_t n;
	const struct sim_model_weather *weather;
};

static int happens(const struct stricken *s, const char *site, uint64_t rate)
{
	return sim_happens(s->all->chance, site, rate);
}

/* A time from now. */
static int64_t draw_until(const struct stricken *s, const char *site,
			  uint64_t us)
{
	return sim_sched_now() +
	       (int64_t)(1 + sim_draw(s->all->chance, site, us)) * US;
}

/* ---- Faults of the server ------------------------------------------------ */

/* All lost leases end within a ttl. */
static void lose(const struct stricken *s, const char *what)
{
	sim_sched_tell("server %zu %s", s->n, what);
	sim_judge_excuse(s->n, sim_sched_now() + s->weather->ttl_ms * SIM_MS);
}

/* Pauses that follow each other at each turn are a server that is down, for
 * any time; so the server works for as long behind each. */
static void draw_pause(const struct stricken *s)
{
	struct sim_member *m = s->member;
	int64_t until;

	if (sim_sched_now() < m->rested_at ||
	    !happens(s, "pause", s->weather->pause_rate))
		return;
	until = draw_until(s, "paused", s->weather->pause_us);
	m->stopped_until = until;
	if (s->all->n > 1) {
		sim_sched_tell("server %zu is stopped", s->n);
		sim_server_pause(s->wire->port, until);
	} else {
		sim_server_pause(-1, until);
	}
	m->rested_at = until + until - sim_sched_now();
}

/* A server that is killed while stopped starts, too. */
static void restart(const struct stricken *s, int memory)
{
	s->member->stopped_until = 0;
	if (s->all->n > 1)
		sim_server_pause(s->wire->port, 0);
	sim_member_restart(s->member, s->all->chance, memory,
			   s->weather->down_us);
}

/* A memcached that restarts again and again grants no claim. */
static void draw_blank(const struct stricken *s)
{
	int64_t young_ms = s->weather->young_ms;

	if (sim_sched_now() < s->member->grown_at ||
	    !happens(s, "blank", s->weather->blank_rate))
		return;
	lose(s, "restarts with nothing");
	restart(s, 0);
	if (young_ms > 0)
		s->member->grown_at = draw_until(s, "grown",
						 (uint64_t)young_ms * 1000) +
				      young_ms * SIM_MS;
}

static void draw_server_fault(const struct stricken *s)
{
	const struct sim_model_weather *w = s->weather;
	struct sim_model *m = s->member->model;

	draw_pause(s);
	if (happens(s, "restart", w->restart_rate)) {
		sim_sched_tell("server %zu restarts", s->n);
		restart(s, 1);
	}
	draw_blank(s);
	if (happens(s, "flush", w->flush_rate)) {
		lose(s, "is flushed");
		sim_model_flush(m);
	}
	if (happens(s, "evict", w->evict_rate)) {
		lose(s, "evicts a key");
		sim_model_evict(m, sim_draw(s->all->chance, "key", 64));
	}
	if (happens(s, "forget", w->forget_rate))
		sim_model_forget(m, 0);
}

/* ---- Faults of the ways -------------------------------------------------- */

static void clog_to_client(struct sim_wire *w, void *until)
{
	w->to_client.at = *(int64_t *)until;
}

static void clog_to_server(struct sim_wire *w, void *until)
{
	w->to_server.at = *(int64_t *)until;
}

static void lose_bytes(struct sim_wire *w, void *none)
{
	(void)none;
	w->loses = 1;
}

/* A message may come though the answer to a request on the other connection is
 * late. */
static void clog_some(struct sim_wire *w, void *of)
{
	const struct stricken *s = of;
	int64_t until = draw_until(s, "late",
				   (uint64_t)s->weather->ttl_ms * 1000);

	if (sim_draw(s->all->chance, "apart", 2))
		clog_to_client(w, &until);
}

static size_t way_of(const struct sim_wire *w)
{
	int way = w->set >= 0 ? w->set : w->port;

	if (way >= SIM_WAYS)
		sim_sched_fail("more than %d ways", SIM_WAYS);
	return (size_t)way;
}

/* The server has the client's requests, answers late, and hears no later
 * request.  The later the answer is, the more a lease that counts from the
 * answer is too long.  Requests that are not heard may arrive in the end. */
static void cut_off(struct stricken *s)
{
	const struct sim_wire *w = s->wire;
	int64_t lease_us = s->weather->ttl_ms * 1000;
	int64_t until = draw_until(s, "late",
				   (uint64_t)s->weather->late_ms * 1000);
	size_t way = way_of(w);

	sim_sched_tell("way %zu to server %zu is cut off", way, s->n);
	if (s->weather->apart)
		sim_server_each(w->port, w->set, clog_some, s);
	else
		sim_server_each(w->port, w->set, clog_to_client, &until);
	until = draw_until(s, "clog", s->weather->clog_us) + lease_us * US;
	s->all->deaf_until[way] = until;
	s->all->deaf_of[way] = s->n;
	sim_server_each(w->port, w->set, clog_to_server, &until);
	s->all->loses[way] = (int)sim_draw(s->all->chance, "loses", 2);
	if (s->all->loses[way])
		sim_server_each(w->port, w->set, lose_bytes, NULL);
}

/* A server of a fleet hears no client. */
static void cut_off_all(const struct stricken *s)
{
	int64_t until = draw_until(s, "clog", s->weather->clog_us);

	sim_sched_tell("server %zu is cut off", s->n);
	s->member->cut_until = until;
	sim_server_each(s->wire->port, -1, clog_to_server, &until);
}

/* Clog a way, both ways of a client, or the ways to a client. */
static void draw_clog(struct stricken *s)
{
	struct sim_wire *w = s->wire;
	int64_t until;

	if (w->fd < 0 || !happens(s, "clog", s->weather->clog_rate))
		return;
	until = draw_until(s, "clog", s->weather->clog_us);
	switch (sim_draw(s->all->chance, "way", s->all->n > 1 ? 7 : 5)) {
	case 0:
		clog_to_server(w, &until);
		break;
	case 1:
		clog_to_client(w, &until);
		break;
	case 2:
		sim_server_each(w->port, w->set, clog_to_client, &until);
		break;
	case 5:
	case 6:
		cut_off_all(s);
		break;
	default:
		cut_off(s);
	}
}

void sim_models_draw_faults(struct sim_models *s, struct sim_wire *w)
{
	size_t n = sim_models_member(s, w);
	struct stricken one = { s, w, &s->member[n], n, &s->now[n] };

	draw_server_fault(&one);
	draw_clog(&one);
}

void sim_models_greet(const struct sim_models *s, struct sim_wire *w)
{
	size_t n = sim_models_member(s, w), way = way_of(w);
	int64_t deaf_until = s->deaf_of[way] == n ? s->deaf_until[way] : 0;

	w->to_server.at = deaf_until;
	if (w->to_server.at < s->member[n].cut_until)
		w->to_server.at = s->member[n].cut_until;
	w->loses = s->loses[way] && deaf_until > sim_sched_now();
}

static void hurry(struct sim_wire *w, void *none)
{
	(void)none;
	sim_way_hurry(&w->to_server, sim_sched_now());
	sim_way_hurry(&w->to_client, sim_sched_now());
}

void sim_models_heal(struct sim_models *s)
{
	for (size_t i = 0; i < s->n; i++) {
		sim_member_heal(&s->member[i]);
		sim_server_pause((int)i, 0);
	}
	for (size_t i = 0; i < SIM_WAYS; i++)
		s->deaf_until[i] = 0;
	sim_server_each(-1, -1, hurry, NULL);
	sim_server_pause(-1, 0);
}
