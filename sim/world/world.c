/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A quarter of a second, by a clock that drifts. */
static const int64_t PROMPT = INT64_C(260000000);

static struct sim_world *of(struct dlki_world *w)
{
	return (struct sim_world *)w;
}

static dlk_time local(const struct sim_world *w, int64_t now)
{
	return w->offset_ns + now + now / 1000000 * w->drift_ppm;
}

static dlk_time world_now(struct dlki_world *w)
{
	return local(of(w), of(w)->net->now + of(w)->slept_ns);
}

static int world_chance(struct dlki_world *w, void *out, size_t size)
{
	unsigned char *to = out;

	for (size_t i = 0; i < size; i++)
		to[i] = (unsigned char)sim_next(&of(w)->bytes);
	return 0;
}

/* ---- Sockets ------------------------------------------------------------- */

static struct sim_wire *wire(struct dlki_world *w, int sock)
{
	return of(w)->net->wires[sock];
}

static int world_connect(struct dlki_world *w, const struct dlki_address *to,
			 enum dlki_set set, struct dlki_tag tag)
{
	return sim_net_connect(of(w)->net, w, to, set, tag);
}

static int world_finish(struct dlki_world *w, int sock)
{
	const struct sim_wire *wi = wire(w, sock);

	return wi->is_up ? -wi->error : -EINPROGRESS;
}

static ssize_t world_read(struct dlki_world *w, int sock, void *out,
			  size_t size)
{
	struct sim_wire *wi = wire(w, sock);
	struct sim_bytes *in = &wi->down.arrived;

	if (wi->error != 0)
		return -wi->error;
	if (in->len == 0)
		return wi->down.is_ended ? 0 : -EAGAIN;
	size = size < in->len ? size : in->len;
	if (!of(w)->is_answered && wi->is_behind &&
	    wi->net->now - wi->asked_at <= PROMPT) {
		of(w)->behind = wi->server;
		of(w)->stopped_at = wi->server->stopped_at;
	}
	of(w)->is_answered = 1;
	memcpy(out, sim_bytes_text(in), size);
	sim_bytes_take(in, size);
	return (ssize_t)size;
}

static ssize_t world_await(struct dlki_world *w, int sock, void *out,
			   size_t size)
{
	struct sim_net *n = of(w)->net;
	const struct sim_wire *wi = wire(w, sock);

	if (n->pass && !n->awaited && !sim_wire_can_read(wi)) {
		int64_t most = 1 + (int64_t)sim_draw(n->chance, "await:for", 8);

		sim_net_note(n, "wire %d: awaited", sock);
		n->awaited = wi;
		n->pass(n->pass_arg, wi, n->now + most * 1000000);
		n->awaited = NULL;
	}
	return world_read(w, sock, out, size);
}

/* Take the processor from the process.  The process writes the bytes of the
 * rest of the turn later. */
static void sleep_a_while(struct sim_world *w)
{
	struct sim_net *n = w->net;
	int64_t for_ms;

	if (!sim_happens(n->chance, "sleep", n->weather.sleep))
		return;
	for_ms = 1 + (int64_t)sim_draw(n->chance, "sleep:for",
				       2 * n->weather.lease_ms);
	sim_net_note(n, "a client sleeps for %" PRId64 " ms", for_ms);
	w->slept_ns += for_ms * 1000000;
}

static ssize_t world_write(struct dlki_world *w, int sock, const void *bytes,
			   size_t size)
{
	struct sim_net *n = of(w)->net;
	struct sim_wire *wi = wire(w, sock);
	size_t len;

	if (wi->error != 0)
		return -wi->error;
	if (wi->down.is_ended && !wi->peer)
		return -EPIPE;
	len = sim_stream_write(&wi->up, &n->weather, n->chance,
			       n->now + of(w)->slept_ns, bytes, size);
	if (wi->asked_at == SIM_NEVER)
		wi->asked_at = n->now;
	sim_net_note(n, "wire %d: %zu of %zu bytes written", sock, len, size);
	if (sim_happens(n->chance, "reset", n->weather.reset)) {
		sim_net_note(n, "wire %d: reset", sock);
		sim_net_reset(wi);
	}
	sleep_a_while(of(w));
	return len > 0 ? (ssize_t)len : -EAGAIN;
}

static void world_want(struct dlki_world *w, int sock, int writable)
{
	struct sim_wire *wi = wire(w, sock);

	wi->wants_room = writable;
	if (writable && wi->up.flying.len < of(w)->net->weather.buffer)
		sim_wire_tell(wi, DLKI_WRITABLE);
}

static void world_close(struct dlki_world *w, int sock)
{
	if (!of(w)->is_dead)
		sim_net_close(of(w)->net, sock);
}

static int64_t draw_answer_at(const struct sim_net *n)
{
	int64_t us = (int64_t)sim_draw(n->chance, "resolve",
				       2 * n->weather.delay_us);

	if (sim_happens(n->chance, "hang", n->weather.hang))
		us += 3000000;
	return n->now + 1000 * us;
}

/* The answer of a forgotten look-up will do. */
static int world_resolve(struct dlki_world *w, const char *host, uint16_t port,
			 struct dlki_address *out, int room)
{
	struct sim_world *me = of(w);

	(void)host, (void)port;
	if (!me->is_asked)
		me->answer_at = draw_answer_at(me->net);
	me->is_asked = me->answer_at > me->net->now &&
		       me->answer_at != SIM_NEVER;
	if (me->is_asked)
		return 0;
	me->answer_at = SIM_NEVER;
	return sim_net_name(me->net, out, room);
}

/* ---- Waiting ------------------------------------------------------------- */

/* The edges of the client's own sockets in these sets. */
static unsigned int told(const struct sim_wire *wi, const struct sim_world *w,
			 unsigned int sets)
{
	if (!wi || wi->client != &w->base || !(sets & DLKI_BIT(wi->set)))
		return 0;
	return wi->edges;
}

static int world_wait(struct dlki_world *w, unsigned int sets,
		      struct dlki_event *out, int room, dlk_time until)
{
	struct sim_net *n = of(w)->net;
	int found = 0;

	for (size_t i = 0; n->n_told > 0 && i < n->n_wires && found < room;
	     i++) {
		struct sim_wire *wi = n->wires[i];

		if (told(wi, of(w), sets) != 0)
			out[found++] = (struct dlki_event){
				wi->tag, sim_wire_take_edges(wi)
			};
	}
	for (int set = 0; set < DLKI_SETS; set++) {
		if (sets & DLKI_BIT(set))
			of(w)->kicked[set] = 0;
	}
	if (of(w)->answer_at <= n->now)
		of(w)->answer_at = SIM_NEVER;
	of(w)->has_work = found > 0 || until <= world_now(w);
	return found;
}

static void world_kick(struct dlki_world *w, enum dlki_set set)
{
	of(w)->kicked[set] = 1;
}

static const struct dlki_world_type type = {
	.now = world_now,
	.chance = world_chance,
	.connect = world_connect,
	.finish = world_finish,
	.read = world_read,
	.await = world_await,
	.write = world_write,
	.want = world_want,
	.close = world_close,
	.wait = world_wait,
	.kick = world_kick,
	.resolve = world_resolve,
};

/* ---- For the owner of the simulation ------------------------------------- */

void sim_world_begin(struct sim_world *w, struct sim_net *net, uint64_t number)
{
	int64_t drift = (int64_t)sim_draw(net->chance, "drift",
					  2 * net->weather.drift_ppm + 1);

	*w = (struct sim_world){
		.base = { .type = &type },
		.net = net,
		.offset_ns = (int64_t)(1 + sim_draw(net->chance, "boot", 100)) *
			     1000000000,
		.drift_ppm = drift - (int64_t)net->weather.drift_ppm,
		.answer_at = SIM_NEVER,
	};
	w->bytes.state = number;
}

int64_t sim_world_true(const struct sim_world *w, dlk_time at)
{
	int64_t t = at;

	if (at == DLK_FOREVER)
		return SIM_NEVER;
	t = at - w->offset_ns;
	t -= t / 1000000 * w->drift_ppm;
	while (local(w, t) < at)
		t += at - local(w, t);
	return t;
}

int sim_world_has_events(const struct sim_world *w, unsigned int sets)
{
	for (size_t i = 0; w->net->n_told > 0 && i < w->net->n_wires; i++) {
		if (told(w->net->wires[i], w, sets) != 0)
			return 1;
	}
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if ((sets & DLKI_BIT(set)) && w->kicked[set])
			return 1;
	}
	return (sets & DLKI_BIT(DLKI_ANSWERS)) && w->answer_at <= w->net->now;
}

int sim_world_is_misled(const struct sim_world *w, int64_t at)
{
	return w->behind && w->behind->stopped_at == w->stopped_at &&
	       at <= w->behind->caught_up_at;
}

int sim_world_awaits(const struct sim_world *w)
{
	return w->net->awaited && w->net->awaited->client == &w->base;
}

int sim_world_unread(const struct sim_world *w)
{
	for (size_t i = 0; i < w->net->n_wires; i++) {
		const struct sim_wire *wi = w->net->wires[i];

		if (wi && wi->client == &w->base && wi->edges == 0 &&
		    (wi->down.arrived.len > 0 || wi->down.is_ended))
			return (int)i;
	}
	return -1;
}

void sim_world_kill(struct sim_world *w)
{
	w->is_dead = 1;
	for (size_t i = 0; i < w->net->n_wires; i++) {
		if (w->net->wires[i] && w->net->wires[i]->client == &w->base)
			sim_net_close(w->net, (int)i);
	}
}
