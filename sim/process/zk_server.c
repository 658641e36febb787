/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/zk_server.h"

#include "sim/process/sched.h"
#include "sim/process/server.h"
#include "sim/process/zk_judge.h"
#include "sim/zk/server.h"

enum { US = 1000, UP_US = 1000000 };

#define WALL_US (INT64_C(1700000000) * 1000000)

static struct {
	struct sim_zk *model;
	struct sim_chance *chance, *elections, *reports;
	struct sim_zk_weather weather;
	int followers;
} s;

static struct sim_zk_time now(void)
{
	int64_t us = sim_sched_now() / US;

	return (struct sim_zk_time){ us + UP_US, us + WALL_US };
}

/* ---- Faults -------------------------------------------------------------- */

static int64_t draw_hold_us(void)
{
	return (int64_t)sim_draw(s.chance, "hold", s.weather.hold_us);
}

/* A client leaves a server after a sixth of the ttl without an answer. */
static void hold_up_in_turn(int follower)
{
	int64_t ttl_us = s.weather.ttl_ms * 1000;
	int64_t from_us = now().up_us + (int64_t)sim_draw(s.chance, "late",
							  (uint64_t)ttl_us / 6);

	sim_zk_hold_up_in_turn(s.model, follower, from_us,
			       from_us + ttl_us + draw_hold_us());
}

static void hold_up(int follower)
{
	if (s.weather.in_turn)
		hold_up_in_turn(follower);
	else
		sim_zk_hold_up(s.model, follower, now().up_us + draw_hold_us());
}

/* Draw an election, after a client's request or an answer. */
static void draw_election(void)
{
	int64_t now_us = now().up_us, until_us, alone_until_us;
	int n;

	if (!sim_happens(s.elections, "elect", s.weather.elect_rate))
		return;
	n = (int)sim_draw(s.elections, "elected", SIM_ZK_PORTS);
	until_us = now_us + (int64_t)sim_draw(s.elections, "electing",
					      s.weather.elect_us);
	alone_until_us = now_us + (int64_t)sim_draw(s.elections, "alone",
						    s.weather.alone_us);
	sim_sched_tell("server %d is elected in %d ms, and the former leader "
		       "alone for %d ms",
		       n, (int)((until_us - now_us) / 1000),
		       (int)((alone_until_us - now_us) / 1000));
	sim_zk_elect(s.model, n, until_us, alone_until_us);
}

/* A write is answered, and the leader ends the client's session before a lease
 * from now is over, unless the leader hears of the session.  The lease is a
 * twentieth shorter than the session. */
static void draw_late_report(const struct sim_wire *p)
{
	int64_t ttl_us = s.weather.ttl_ms * 1000, until_us;

	if (!sim_zk_has_written(p->conn) ||
	    sim_zk_over_us(p->conn) > now().up_us + ttl_us / 20 * 19 ||
	    !sim_happens(s.reports, "report", s.weather.report_rate))
		return;
	until_us = now().up_us + ttl_us +
		   (int64_t)sim_draw(s.reports, "late", (uint64_t)ttl_us);
	sim_sched_tell("the leader does not hear of follower %d", p->port);
	sim_zk_hold_up(s.model, p->port, until_us);
}

/* A client has an answer.  The longer the leader does not hear of the client
 * from then on, the more a lease that counts from the answer is too long. */
static void draw_fault_behind(const struct sim_wire *p)
{
	draw_election();
	if (p->port > 0)
		draw_late_report(p);
	if (p->port > 0 && s.weather.apart &&
	    sim_happens(s.chance, "hold", s.weather.hold_rate))
		hold_up(p->port);
}

static void draw_fault(void)
{
	if (sim_happens(s.chance, "pause", s.weather.pause_rate))
		sim_server_pause(-1,
				 sim_sched_now() +
					 (int64_t)sim_draw(s.chance, "paused",
							   s.weather.pause_us) *
						 US);
	if (sim_happens(s.chance, "restart", s.weather.restart_rate))
		sim_zk_restart(s.model, now());
	if (s.followers > 0 &&
	    sim_happens(s.chance, "hold", s.weather.hold_rate))
		hold_up(1 +
			(int)sim_draw(s.chance, "held", (uint64_t)s.followers));
}

/* One way is clogged; or the server has taken a request of the client, answers
 * late, and hears no later request for a whole lease.  The later the answer is,
 * the more a lease that counts from the answer is too long. */
static void draw_clog(struct sim_wire *p)
{
	int64_t ttl_us = s.weather.ttl_ms * 1000, us;

	if (p->fd < 0 || !sim_happens(s.chance, "clog", s.weather.clog_rate))
		return;
	us = draw_hold_us();
	switch (sim_draw(s.chance, "way", 4)) {
	case 0:
		p->to_server.at = sim_sched_now() + us * US;
		break;
	case 1:
		p->to_client.at = sim_sched_now() + us * US;
		break;
	default:
		p->to_server.at = sim_sched_now() + (ttl_us + us) * US;
		us = (int64_t)sim_draw(s.chance, "late",
				       (uint64_t)ttl_us * 2 / 3);
		p->to_client.at = sim_sched_now() + us * US;
	}
}

static void draw_faults(struct sim_wire *p)
{
	draw_fault();
	draw_clog(p);
	draw_election();
}

/* ---- The model ----------------------------------------------------------- */

static int accept_peer(struct sim_wire *p)
{
	p->conn = sim_zk_connect(s.model, p->port);
	return 1;
}

static void input(void *conn, const void *bytes, size_t n)
{
	sim_zk_input(conn, bytes, n, now());
}

static struct sim_bytes *output(void *conn)
{
	return sim_zk_output(conn);
}

static int is_closing(void *conn)
{
	return sim_zk_is_closing(conn);
}

static void ended(void *conn)
{
	sim_zk_disconnect(conn);
}

static int64_t due(void)
{
	return (sim_zk_due(s.model) - UP_US) * US;
}

static void ring(void)
{
	sim_zk_ring(s.model, now());
}

static const struct sim_server_type server_type = {
	.first_port = SIM_ZK_PORT,
	.ports = SIM_ZK_PORTS,
	.late_ns = SIM_FOREVER,
	.accept = accept_peer,
	.input = input,
	.output = output,
	.is_closing = is_closing,
	.ended = ended,
	.due = due,
	.ring = ring,
	.asked = draw_faults,
	.answered = draw_fault_behind,
};

/* The leader ends sessions at the ends of ticks, which are multiples of the
 * uptime.  So the less the answer of a follower to a ping is ahead of such an
 * end, the less a lease may be too long. */
static int64_t draw_ping_us(struct sim_chance *chance, int close)
{
	int64_t half_us = SIM_ZK_TICK_MS * 1000 / 2, at_us;

	close |= sim_draw(chance, "close", 2) != 0;
	if (close)
		at_us = half_us - (int64_t)sim_draw(chance, "ping", 3000);
	else
		at_us = (int64_t)sim_draw(chance, "ping", (uint64_t)half_us);
	return (at_us + half_us - now().up_us % half_us) % half_us;
}

void sim_zk_server_start(struct sim_chance *chance,
			 struct sim_chance *elections,
			 struct sim_chance *reports,
			 const struct sim_zk_weather *weather)
{
	struct sim_zk_options o = {
		.tick_ms = SIM_ZK_TICK_MS,
		.followers = weather->followers,
		.containers_ms = weather->reap_ms,
		.link_us = 150,
		.ping_us = draw_ping_us(chance, weather->report_rate > 0),
		.judge = sim_zk_judge,
	};

	s.followers = weather->followers;
	s.chance = chance;
	s.elections = elections;
	s.reports = reports;
	s.weather = (struct sim_zk_weather){ 0 };
	s.model = sim_zk_new(&o, now());
	sim_server_start(&server_type, chance);
}

void sim_zk_server_weather(const struct sim_zk_weather *weather)
{
	struct sim_wires wires = { 0 };

	s.weather = weather ? *weather : (struct sim_zk_weather){ 0 };
	wires.delay_us = s.weather.delay_us;
	wires.least_us = s.weather.least_us;
	wires.reset_rate = s.weather.reset_rate;
	sim_server_wires(-1, weather ? &wires : NULL);
}

const char *sim_zk_server_left(void)
{
	return sim_zk_ephemeral(s.model, 0);
}

void sim_zk_server_stop(void)
{
	sim_server_stop();
	sim_zk_free(s.model);
	s.model = NULL;
}
