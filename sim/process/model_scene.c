/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes with model servers of one kind or the other. */
#include "sim/process/models.h"
#include "sim/process/places.h"
#include "sim/process/scene.h"

enum { US = 1000 };

static struct sim_models s;

/* ---- The model ----------------------------------------------------------- */

static int accept_wire(struct sim_wire *w)
{
	const struct sim_member *m = &s.member[sim_models_member(&s, w)];

	if (sim_sched_now() < m->down_until)
		return 0;
	w->conn = sim_model_connect(m->model);
	sim_models_greet(&s, w);
	return 1;
}

static void known(struct sim_wire *w)
{
	sim_models_greet(&s, w);
}

static void input(void *conn, const void *bytes, size_t n)
{
	sim_peer_input(conn, bytes, n, sim_member_now());
	sim_places_look(&s);
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
	int64_t at = SIM_FOREVER;

	for (size_t i = 0; i < s.n; i++) {
		int64_t next = sim_member_due(&s.member[i]);

		at = next < at ? next : at;
	}
	return at;
}

static void ring(void)
{
	for (size_t i = 0; i < s.n; i++) {
		if (sim_member_due(&s.member[i]) <= sim_sched_now())
			sim_member_ring(&s.member[i], s.chance,
					s.now[i].late_rate);
	}
}

static void asked(struct sim_wire *w)
{
	sim_models_draw_faults(&s, w);
}

static struct sim_server_type server_type = {
	.ports = SIM_MODEL_PORTS + 1,
	.outlives = 1,
	.hands_over = 1,
	.accept = accept_wire,
	.known = known,
	.input = input,
	.output = output,
	.is_closing = is_closing,
	.ended = ended,
	.due = due,
	.ring = ring,
	.asked = asked,
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

static void draw_fleet(struct sim_terms *t, struct sim_chance *chance)
{
	sim_fleet_weather_draw(&s.weather, t, chance);
}

static void begin(struct sim_chance *chance)
{
	sim_models_begin(&s, chance);
	sim_places_begin();
	server_type.first_port = s.weather.first_port;
	server_type.shares = s.n > 1;
	server_type.late_ns = s.weather.ttl_ms * SIM_MS / 3;
	sim_server_start(&server_type, chance);
}

static void end(void)
{
	sim_server_stop();
	sim_models_end(&s);
}

static int is_sick(size_t member)
{
	return s.n == 1 || (s.weather.sick & 1U << member) != 0;
}

/* Set the weather of each server of now.  The servers of a fleet that are well
 * have no faults. */
static void change_weather(int on)
{
	for (size_t i = 0; i < SIM_MEMBERS; i++)
		s.now[i] = (struct sim_model_weather){ 0 };
	sim_server_wires(-1, on ? &s.weather.wires : NULL);
	for (size_t i = 0; on && i < s.n; i++) {
		struct sim_wires wires = s.weather.wires;

		if (is_sick(i))
			s.now[i] = s.weather;
		else
			wires.reset_rate = wires.end_rate = 0;
		wires.delay_us += s.weather.slow_us[i];
		if (s.n > 1)
			sim_server_wires((int)i, &wires);
	}
}

static void faults(int on)
{
	change_weather(on);
	if (!on && s.member[0].model)
		sim_models_heal(&s);
}

static void strand(struct sim_wire *w, void *none)
{
	int64_t until =
		sim_sched_now() +
		(int64_t)(1 + sim_draw(s.chance, "strand",
				       (uint64_t)s.weather.ttl_ms * 500)) *
			US;

	(void)none;
	if (is_sick(sim_models_member(&s, w)))
		w->to_server.at = until;
}

static void strand_all(void)
{
	sim_server_each(-1, -1, strand, NULL);
}

static void subside(void)
{
	change_weather(0);
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

static enum sim_claim claim(const char *name, int is_semaphore)
{
	enum sim_claim most = SIM_NONE;

	for (size_t i = 0; i < s.n; i++) {
		enum sim_claim one = sim_models_claim(&s, i, name,
						      is_semaphore);

		most = one > most ? one : most;
	}
	return most;
}

/* A claim that late bytes of a closed client made stands for a lease, and the
 * claim's keys for a second more. */
static const char *left(void)
{
	if (sim_models_key(&s))
		sim_sched_wait(SIM_SLEEP, NULL,
			       sim_sched_now() + 5300 * SIM_MS);
	return sim_models_key(&s);
}

static int learn_member(const char *name, int is_semaphore)
{
	return sim_places_learn(&s, name, is_semaphore);
}

static void forget_pool(void)
{
	for (size_t i = 0; i < s.n; i++)
		sim_model_delete(s.member[i].model, "dlock.p");
}

#define MODEL_SCENE(name_, draw_)                                              \
	.name = (name_), .upgrades = 1, .draw = (draw_), .begin = begin,       \
	.end = end, .faults = faults, .strand = strand_all,                    \
	.subside = subside, .is_late = is_late, .claim = claim, .left = left

const struct sim_scene sim_redis_scene = { MODEL_SCENE("redis", draw_redis),
					   .sends = 1 };

const struct sim_scene sim_memcached_scene = { MODEL_SCENE("memcached",
							   draw_memcached) };

const struct sim_scene sim_fleet_scene = { MODEL_SCENE("fleet", draw_fleet),
					   .learn_member = learn_member,
					   .forget_pool = forget_pool };
