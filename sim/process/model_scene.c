/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes with a model server of one kind or the other. */
#include <stdio.h>

#include "sim/process/member.h"
#include "sim/process/model_weather.h"
#include "sim/process/scene.h"

enum { US = 1000 };

static struct {
	struct sim_member server;
	struct sim_chance *chance;
	struct sim_model_weather weather, now;
	int64_t rested_at; /* the server, from the last pause */
	int64_t grown_at;  /* ... from the last restart without memory */
	int64_t deaf_until[SIM_MODEL_PORTS + 1]; /* the server, for a client */
	int loses[SIM_MODEL_PORTS + 1]; /* ... with each closed connection */
} s;

static int happens(const char *site, uint64_t rate)
{
	return sim_happens(s.chance, site, rate);
}

/* A time from now. */
static int64_t draw_until(const char *site, uint64_t us)
{
	return sim_sched_now() +
	       (int64_t)(1 + sim_draw(s.chance, site, us)) * US;
}

/* ---- Faults of the server ------------------------------------------------ */

/* All lost leases end within a ttl. */
static void lose(const char *what)
{
	sim_sched_tell("the server %s", what);
	sim_judge_excuse(sim_sched_now() + s.weather.ttl_ms * SIM_MS);
}

/* Pauses that follow each other at each turn are a server that is down, for
 * any time; so the server works for as long behind each. */
static void draw_pause(void)
{
	int64_t until;

	if (sim_sched_now() < s.rested_at ||
	    !happens("pause", s.now.pause_rate))
		return;
	until = draw_until("paused", s.now.pause_us);
	sim_server_pause(until);
	s.rested_at = until + until - sim_sched_now();
}

static void restart(int memory)
{
	sim_member_restart(&s.server, s.chance, memory, s.now.down_us);
}

/* A memcached that restarts again and again grants no claim. */
static void draw_blank(void)
{
	int64_t young_ms = s.weather.young_ms;

	if (sim_sched_now() < s.grown_at || !happens("blank", s.now.blank_rate))
		return;
	lose("restarts with nothing");
	restart(0);
	if (young_ms > 0)
		s.grown_at = draw_until("grown", (uint64_t)young_ms * 1000) +
			     young_ms * SIM_MS;
}

static void draw_server_fault(void)
{
	const struct sim_model_weather *w = &s.now;

	draw_pause();
	if (happens("restart", w->restart_rate)) {
		sim_sched_tell("the server restarts");
		restart(1);
	}
	draw_blank();
	if (happens("flush", w->flush_rate)) {
		lose("is flushed");
		sim_model_flush(s.server.model);
	}
	if (happens("evict", w->evict_rate)) {
		lose("evicts a key");
		sim_model_evict(s.server.model, sim_draw(s.chance, "key", 64));
	}
	if (happens("forget", w->forget_rate))
		sim_model_forget(s.server.model, 0);
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
static void clog_some(struct sim_wire *w, void *none)
{
	int64_t until = draw_until("late", (uint64_t)s.now.ttl_ms * 1000);

	(void)none;
	if (sim_draw(s.chance, "apart", 2))
		clog_to_client(w, &until);
}

/* The server has the client's requests, answers late, and hears no later
 * request.  The later the answer is, the more a lease that counts from the
 * answer is too long.  Requests that are not heard may arrive in the end. */
static void cut_off(const struct sim_wire *w)
{
	int64_t lease_us = s.now.ttl_ms * 1000;
	int64_t until = draw_until("late", (uint64_t)s.now.late_ms * 1000);

	sim_sched_tell("client %d is cut off", w->port);
	if (s.now.apart)
		sim_server_each(w->port, clog_some, NULL);
	else
		sim_server_each(w->port, clog_to_client, &until);
	until = draw_until("clog", s.now.clog_us) + lease_us * US;
	s.deaf_until[w->port] = until;
	sim_server_each(w->port, clog_to_server, &until);
	s.loses[w->port] = (int)sim_draw(s.chance, "loses", 2);
	if (s.loses[w->port])
		sim_server_each(w->port, lose_bytes, NULL);
}

/* Clog a way, both ways of a client, or the ways to a client. */
static void draw_clog(struct sim_wire *w)
{
	int64_t until;

	if (w->fd < 0 || !happens("clog", s.now.clog_rate))
		return;
	until = draw_until("clog", s.now.clog_us);
	switch (sim_draw(s.chance, "way", 5)) {
	case 0:
		clog_to_server(w, &until);
		break;
	case 1:
		clog_to_client(w, &until);
		break;
	case 2:
		sim_server_each(w->port, clog_to_client, &until);
		break;
	default:
		cut_off(w);
	}
}

static void draw_faults(struct sim_wire *w)
{
	draw_server_fault();
	draw_clog(w);
}

/* ---- The model ----------------------------------------------------------- */

static int accept_wire(struct sim_wire *w)
{
	if (sim_sched_now() < s.server.down_until)
		return 0;
	w->conn = sim_model_connect(s.server.model);
	w->to_server.at = s.deaf_until[w->port];
	w->loses = s.loses[w->port] && s.deaf_until[w->port] > sim_sched_now();
	return 1;
}

static void input(void *conn, const void *bytes, size_t n)
{
	sim_peer_input(conn, bytes, n, sim_member_now());
}

static struct sim_bytes *output(void *conn)
{
	return sim_peer_output(conn);
}

static int is_closing(void *conn)
{
	return sim_peer_is_closing(conn);
}

static void ended(void *conn)
{
	sim_peer_free(conn);
}

static int64_t due(void)
{
	return sim_member_due(&s.server);
}

static void ring(void)
{
	sim_member_ring(&s.server, s.chance, s.now.late_rate);
}

static struct sim_server_type server_type = {
	.ports = SIM_MODEL_PORTS + 1,
	.outlives = 1,
	.hands_over = 1,
	.accept = accept_wire,
	.input = input,
	.output = output,
	.is_closing = is_closing,
	.ended = ended,
	.due = due,
	.ring = ring,
	.asked = draw_faults,
};

/* ---- The scene ----------------------------------------------------------- */

static void draw_redis(struct sim_terms *t, struct sim_chance *chance)
{
	sim_redis_weather_draw(&s.weather, t, chance);
}

static void draw_memcached(struct sim_terms *t, struct sim_chance *chance)
{
	sim_memcached_weather_draw(&s.weather, t, chance);
}

static void begin(struct sim_chance *chance)
{
	s.chance = chance;
	sim_member_begin(&s.server, s.weather.kind);
	server_type.first_port = s.weather.first_port;
	server_type.late_ns = s.weather.ttl_ms * SIM_MS / 3;
	sim_server_start(&server_type, chance);
}

static void end(void)
{
	sim_server_stop();
	sim_member_end(&s.server);
}

static void hurry(struct sim_wire *w, void *none)
{
	(void)none;
	sim_way_hurry(&w->to_server, sim_sched_now());
	sim_way_hurry(&w->to_client, sim_sched_now());
}

static void faults(int on)
{
	s.now = on ? s.weather : (struct sim_model_weather){ 0 };
	sim_server_wires(on ? &s.weather.wires : NULL);
	if (on || !s.server.model)
		return;
	s.server.down_until = s.rested_at = s.grown_at = 0;
	for (size_t i = 0; i <= SIM_MODEL_PORTS; i++)
		s.deaf_until[i] = 0;
	sim_server_each(-1, hurry, NULL);
	sim_server_pause(0);
}

static void strand(struct sim_wire *w, void *none)
{
	int64_t until = draw_until("strand", (uint64_t)s.weather.ttl_ms * 500);

	(void)none;
	clog_to_server(w, &until);
}

static void strand_all(void)
{
	sim_server_each(-1, strand, NULL);
}

static void subside(void)
{
	s.now = (struct sim_model_weather){ 0 };
	sim_server_wires(NULL);
}

/* Late bytes may make a claim unknown to the client; the claim lasts for a
 * lease, and as long as claims outlive the lease.  Bytes are late after a third
 * of a lease, and may be so for as long again behind a pause. */
static int is_late(void)
{
	int64_t late_at = sim_server_late_at();

	return late_at > 0 &&
	       sim_sched_now() <
		       late_at + (2 * s.weather.ttl_ms + s.weather.linger_ms) *
					 SIM_MS;
}

static int has_claim(const char *name, int is_semaphore)
{
	struct sim_entry e;
	char key[32];

	snprintf(key, sizeof(key), "%cn%s", is_semaphore ? 's' : 'l', name);
	return sim_model_entry(s.server.model, key, 0, 0, sim_member_now(),
			       &e) ||
	       sim_model_entry(s.server.model, key, 1, 0, sim_member_now(), &e);
}

/* A claim that late bytes of a closed client made stands for a lease, and the
 * claim's keys for a second more.  A break leaves out the tokens that were set
 * aside for the holder, which are up to 4.2 s ahead of the clock. */
static const char *left(void)
{
	if (sim_model_key(s.server.model, 0, sim_member_now()))
		sim_sched_wait(SIM_SLEEP, NULL,
			       sim_sched_now() + 5300 * SIM_MS);
	return sim_model_key(s.server.model, 0, sim_member_now());
}

#define MODEL_SCENE(name_, draw_)                                              \
	{                                                                      \
		.name = (name_), .upgrades = 1, .draw = (draw_),               \
		.begin = begin, .end = end, .faults = faults,                  \
		.strand = strand_all, .subside = subside, .is_late = is_late,  \
		.has_claim = has_claim, .left = left                           \
	}

const struct sim_scene sim_redis_scene = MODEL_SCENE("redis", draw_redis);

const struct sim_scene sim_memcached_scene = MODEL_SCENE("memcached",
							 draw_memcached);
