/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/net.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/world/timer.h"

enum { US = 1000 };

static void make_server(struct sim_net *n, size_t i, enum sim_kind kind)
{
	struct sim_server *s = &n->servers[i];

	s->wall_us = INT64_C(1700000000000000);
	s->up_us = INT64_C(100000000);
	if (kind == SIM_MEMCACHED)
		s->up_us += (int64_t)sim_draw(n->chance, "boot:up", 1000000);
	s->model = sim_model_new(kind, i, sim_server_time(n, s));
	sim_model_set_replica(s->model, i > 0 && !n->weather.has_stranger);
}

void sim_net_begin(struct sim_net *n, struct sim_chance *c, enum sim_kind kind)
{
	*n = (struct sim_net){ .chance = c, .late_at = -1 };
	sim_weather_draw(&n->weather, c);
	if (kind == SIM_MEMCACHED)
		sim_weather_draw_memcached(&n->weather, c);
	n->n_servers = n->weather.fail_over || n->weather.has_stranger ? 2 : 1;
	n->name = sim_net_places(0);
	for (size_t i = 0; i < n->n_servers; i++)
		make_server(n, i, kind);
}

static void free_wire(struct sim_net *n, size_t i)
{
	struct sim_wire *w = n->wires[i];

	if (w && w->peer)
		sim_peer_free(w->peer);
	if (w) {
		sim_stream_free(&w->up);
		sim_stream_free(&w->down);
	}
	free(w);
	n->wires[i] = NULL;
}

void sim_net_end(struct sim_net *n)
{
	for (size_t i = 0; i < n->n_wires; i++)
		free_wire(n, i);
	free(n->wires);
	for (size_t i = 0; i < n->n_servers; i++)
		sim_model_free(n->servers[i].model);
}

void sim_net_heal(struct sim_net *n)
{
	n->is_healed = 1;
	n->weather =
		(struct sim_weather){ .delay_us = 50,
				      .buffer = 65536,
				      .times = 1,
				      .has_name = n->weather.has_name,
				      .has_stranger = n->weather.has_stranger,
				      .lease_ms = n->weather.lease_ms };
	n->name = sim_net_places(n->master);
	n->name_fails = 0;
	for (size_t i = 0; i < n->n_servers; i++) {
		if (n->servers[i].is_stopped)
			n->servers[i].stopped_until = n->now;
	}
	for (size_t i = 0; i < n->n_wires; i++) {
		if (!n->wires[i])
			continue;
		sim_stream_heal(&n->wires[i]->up, n->now);
		sim_stream_heal(&n->wires[i]->down, n->now);
	}
	sim_net_note(n, "the weather is over");
}

/* ---- The client's end ---------------------------------------------------- */

static size_t free_number(struct sim_net *n)
{
	for (size_t i = 0; i < n->n_wires; i++) {
		if (!n->wires[i])
			return i;
	}
	n->wires = sim_grow(n->wires, n->n_wires + 1, sizeof(*n->wires));
	n->wires[n->n_wires] = NULL;
	return n->n_wires++;
}

int sim_net_connect(struct sim_net *n, const void *client,
		    const struct dlki_address *to, enum dlki_set set,
		    struct dlki_tag tag)
{
	struct sim_server *server = sim_net_server(n, to);
	size_t i = free_number(n);
	struct sim_wire *w;

	w = sim_alloc(sizeof(*w));
	w->net = n;
	w->client = w->opener = client;
	w->superseded_at = SIM_NEVER;
	w->asked_at = SIM_NEVER;
	w->server = server ? server : &n->servers[n->master];
	w->set = set;
	w->tag = tag;
	w->up_at = n->now + US +
		   US * (int64_t)sim_draw(n->chance, "connect",
					  2 * n->weather.delay_us);
	if (!server && sim_draw(n->chance, "nobody:silent", 2) == 1)
		w->up_at = SIM_NEVER;
	else if (!server ||
		 sim_happens(n->chance, "refused", n->weather.refused))
		w->error = ECONNREFUSED;
	else if (sim_happens(n->chance, "unanswered", n->weather.unanswered))
		w->up_at = SIM_NEVER;
	sim_stream_begin(&w->up);
	sim_stream_begin(&w->down);
	n->wires[i] = w;
	return (int)i;
}

void sim_wire_tell(struct sim_wire *w, unsigned int edges)
{
	w->net->n_told += w->client && w->edges == 0;
	w->edges |= edges;
}

unsigned int sim_wire_take_edges(struct sim_wire *w)
{
	unsigned int edges = w->edges;

	w->net->n_told -= w->client && edges != 0;
	w->edges = 0;
	return edges;
}

void sim_net_close(struct sim_net *n, int number)
{
	struct sim_wire *w = n->wires[number];

	if (w == n->awaited)
		sim_panic("wire %d is closed under a thread that reads",
			  number);
	(void)sim_wire_take_edges(w);
	w->client = NULL;
	sim_stream_end(&w->up, n->now);
	sim_net_note(n, "wire %d: the client closes", number);
	if (!w->peer)
		free_wire(n, (size_t)number);
}

void sim_net_reset(struct sim_wire *w)
{
	if (w->peer)
		sim_peer_free(w->peer);
	w->peer = NULL;
	w->error = ECONNRESET;
	sim_stream_free(&w->up);
	sim_stream_free(&w->down);
	sim_wire_tell(w, DLKI_READABLE | DLKI_WRITABLE | DLKI_ENDED);
}

/* ---- Due events ---------------------------------------------------------- */

static int64_t wire_due(const struct sim_wire *w)
{
	int64_t up = sim_stream_due(&w->up);
	int64_t down = sim_stream_due(&w->down);

	if (!w->is_up)
		return w->client ? w->up_at : SIM_NEVER;
	if (w->error != 0)
		return SIM_NEVER;
	if (w->server->is_stopped && up < w->server->stopped_until)
		up = w->server->stopped_until;
	if (!w->peer)
		up = SIM_NEVER;
	return up < down ? up : down;
}

int64_t sim_net_due(const struct sim_net *n)
{
	int64_t due = SIM_NEVER;

	for (size_t i = 0; i < n->n_servers; i++) {
		int64_t at = sim_timer_due(&n->servers[i]);

		due = at < due ? at : due;
	}
	for (size_t i = 0; i < n->n_wires; i++) {
		int64_t at = n->wires[i] ? wire_due(n->wires[i]) : SIM_NEVER;

		due = at < due ? at : due;
	}
	return due;
}

static void stand(struct sim_wire *w, size_t number)
{
	w->is_up = 1;
	sim_wire_tell(w, DLKI_WRITABLE);
	if (w->server->is_down)
		w->error = ECONNREFUSED;
	if (w->error == 0)
		w->peer = sim_model_connect(w->server->model);
	sim_net_note(w->net, "wire %zu: %s", number,
		     w->error == 0 ? "up" : "refused");
}

static int64_t lease_ns(const struct sim_net *n)
{
	return (int64_t)n->weather.lease_ms * 1000 * US;
}

/* To the server: bytes, or the end. */
static void deliver_up(struct sim_wire *w, size_t number)
{
	size_t len;

	if (!sim_stream_step(&w->up, w->net->now))
		return;
	len = w->up.arrived.len;
	if (len > 0) {
		if (!w->client &&
		    w->superseded_at < w->net->now - lease_ns(w->net))
			w->net->late_at = w->net->now;
		sim_net_note(w->net, "wire %zu: %zu bytes up", number, len);
		if (!w->is_heard)
			w->is_behind = sim_timer_is_behind(w->server);
		w->is_heard = 1;
		sim_peer_input(w->peer, sim_bytes_text(&w->up.arrived), len,
			       sim_server_time(w->net, w->server));
		sim_bytes_take(&w->up.arrived, len);
		if (w->wants_room)
			sim_wire_tell(w, DLKI_WRITABLE);
	}
	if (w->up.is_ended) {
		sim_peer_free(w->peer);
		w->peer = NULL;
		sim_stream_end(&w->down, w->net->now);
	}
}

/* From the server: as much as there is room for. */
static void take_output(struct sim_wire *w)
{
	struct sim_net *n = w->net;
	struct sim_bytes *out = sim_peer_output(w->peer);
	size_t len = sim_stream_write(&w->down, &n->weather, n->chance, n->now,
				      sim_bytes_text(out), out->len);

	if (len > 0)
		sim_bytes_take(out, len);
	if (len > 0 && sim_happens(n->chance, "reset", n->weather.reset)) {
		sim_net_note(n, "a server resets");
		sim_net_reset(w);
	} else if (out->len == 0 && sim_peer_is_closing(w->peer)) {
		sim_peer_free(w->peer);
		w->peer = NULL;
		if (n->weather.proxied)
			w->peer = sim_model_connect(w->server->model);
		else
			sim_stream_end(&w->down, n->now);
	}
}

/* An answer: the earlier connections of the client have been given up. */
static void supersede(const struct sim_wire *w)
{
	const struct sim_net *n = w->net;

	for (size_t i = 0; i < n->n_wires; i++) {
		struct sim_wire *old = n->wires[i];

		if (old && !old->client && old->opener == w->client &&
		    old->set == w->set && old->superseded_at == SIM_NEVER)
			old->superseded_at = n->now;
	}
}

static void deliver_down(struct sim_wire *w, size_t number)
{
	size_t before = w->down.arrived.len;

	if (!sim_stream_step(&w->down, w->net->now))
		return;
	sim_wire_tell(w, DLKI_READABLE);
	if (w->down.is_ended)
		sim_wire_tell(w, DLKI_ENDED);
	if (w->client)
		supersede(w);
	sim_net_note(w->net, "wire %zu: %zu bytes down%s", number,
		     w->down.arrived.len - before,
		     w->down.is_ended ? ", the end" : "");
}

/* The machine's kernel keeps bytes for a stopped process.  Bytes to a stopped
 * machine arrive when the sender tries again. */
static void resume(struct sim_net *n, struct sim_server *s)
{
	int64_t for_us = (n->now - s->stopped_at) / US;

	s->is_stopped = 0;
	if (s->sleeps)
		s->slept_us += for_us;
	sim_timer_resume(n, s);
	if (!s->is_host_stopped || n->is_healed)
		return;
	for (size_t i = 0; i < n->n_wires; i++) {
		struct sim_wire *w = n->wires[i];
		uint64_t after_us;

		if (!w || w->server != s || sim_stream_due(&w->up) > n->now)
			continue;
		after_us = sim_draw(n->chance, "stop:retry",
				    (uint64_t)for_us + 1);
		sim_stream_put_off(&w->up, n->now,
				   n->now + US * (int64_t)after_us);
	}
}

void sim_net_stop(struct sim_net *n, struct sim_server *s, int64_t for_ns,
		  int host)
{
	if (s->is_stopped)
		return;
	s->is_stopped = 1;
	s->is_host_stopped = host;
	s->sleeps = host && n->weather.sleeps;
	s->stopped_at = n->now;
	s->stopped_until = n->now + for_ns;
	s->caught_up_at = SIM_NEVER;
	sim_net_note(n, "a server's %s stops for %" PRId64 " ns",
		     host ? "machine" : "process", for_ns);
}

void sim_net_step(struct sim_net *n)
{
	for (size_t i = 0; i < n->n_servers; i++) {
		if (n->servers[i].is_stopped &&
		    n->servers[i].stopped_until <= n->now)
			resume(n, &n->servers[i]);
	}
	for (size_t i = 0; i < n->n_wires; i++) {
		struct sim_wire *w = n->wires[i];

		if (!w)
			continue;
		if (!w->is_up && w->client && w->up_at <= n->now)
			stand(w, i);
		if (w->peer && !w->server->is_stopped)
			deliver_up(w, i);
	}
	for (size_t i = 0; i < n->n_servers; i++) {
		if (sim_timer_due(&n->servers[i]) <= n->now)
			sim_timer_ring(n, &n->servers[i]);
	}
	for (size_t i = 0; i < n->n_wires; i++) {
		struct sim_wire *w = n->wires[i];

		if (w && w->peer)
			take_output(w);
		if (w && w->is_up && w->error == 0)
			deliver_down(w, i);
		if (w && !w->client && !w->peer)
			free_wire(n, i);
	}
}
