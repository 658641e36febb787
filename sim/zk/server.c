/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/server.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/zk/connection.h"
#include "sim/zk/election.h"
#include "sim/zk/ensemble.h"
#include "sim/zk/watches.h"

enum { TICK_MS = 2000, CONTAINERS_MS = 60000 };

static void begin_run(struct sim_zk *s, struct sim_zk_time now)
{
	s->now = now;
	s->containers_us = now.up_us + s->options.containers_ms * 1000;
}

struct sim_zk *sim_zk_new(const struct sim_zk_options *options,
			  struct sim_zk_time now)
{
	struct sim_zk *s = sim_alloc(sizeof(*s));
	struct sim_zk_options *o = &s->options;

	if (options)
		*o = *options;
	o->tick_ms = o->tick_ms ? o->tick_ms : TICK_MS;
	o->min_ms = o->min_ms ? o->min_ms : 2 * o->tick_ms;
	o->max_ms = o->max_ms ? o->max_ms : 20 * o->tick_ms;
	if (o->containers_ms == 0)
		o->containers_ms = CONTAINERS_MS;
	s->sessions.tick_ms = o->tick_ms;
	s->sessions.min_ms = o->min_ms;
	s->sessions.max_ms = o->max_ms;
	s->sessions.last_id = now.wall_us << 8;
	begin_run(s, now);
	zk_ensemble_begin(s);
	return s;
}

void sim_zk_free(struct sim_zk *s)
{
	for (struct sim_zk_conn *c = s->conns, *next; c; c = next) {
		next = c->next;
		sim_zk_disconnect(c);
	}
	zk_sessions_free(&s->sessions);
	zk_sessions_free(&s->election.sessions);
	zk_ensemble_end(s);
	free(s);
}

/* ---- Time ---------------------------------------------------------------- */

int64_t sim_zk_due(const struct sim_zk *s)
{
	const struct zk_session *first = zk_sessions_first(&s->sessions);
	int64_t due = zk_ensemble_due(s), other = zk_election_due(s);

	due = other < due ? other : due;
	if (zk_is_electing(s))
		return due;
	if (s->containers_us < due)
		due = s->containers_us;
	if (first && first->over_ms * 1000 < due)
		due = first->over_ms * 1000;
	return due;
}

static void collect(struct sim_zk *s)
{
	const struct zk_node *n;

	while ((n = zk_tree_unused(&zk_leader(s)->tree, 0))) {
		struct zk_op op = { .type = ZK_DELETE_CONTAINER,
				    .version = -1 };

		memcpy(op.path, n->path, strlen(n->path) + 1);
		zk_ensemble_commit(s, &op, 0);
	}
}

static void end_session(struct sim_zk *s, int64_t id)
{
	struct zk_op op = { .type = ZK_END_SESSION, .session = id };

	zk_ensemble_commit(s, &op, 0);
}

void sim_zk_ring(struct sim_zk *s, struct sim_zk_time now)
{
	const struct zk_session *first;

	s->now = now;
	zk_election_ring(s);
	if (zk_is_electing(s))
		return;
	zk_ensemble_ring(s);
	while ((first = zk_sessions_first(&s->sessions)) &&
	       first->over_ms <= zk_ensemble_up_ms(s))
		end_session(s, first->id);
	if (s->containers_us > now.up_us)
		return;
	s->containers_us = now.up_us + s->options.containers_ms * 1000;
	collect(s);
}

/* ---- Connections --------------------------------------------------------- */

struct sim_zk_conn *sim_zk_connect(struct sim_zk *s, int n)
{
	struct sim_zk_conn *c = sim_alloc(sizeof(*c));

	c->server = &s->servers[n];
	c->id = ++s->last_conn;
	c->next = s->conns;
	s->conns = c;
	return c;
}

void sim_zk_disconnect(struct sim_zk_conn *c)
{
	struct sim_zk_conn **at = &c->server->ensemble->conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	zk_watches_clear(c);
	zk_connection_forget(c);
	sim_bytes_free(&c->in);
	sim_bytes_free(&c->out);
	free(c);
}

struct sim_bytes *sim_zk_output(struct sim_zk_conn *c)
{
	return &c->out;
}

int sim_zk_is_closing(const struct sim_zk_conn *c)
{
	return c->is_closing;
}

/* ---- Events -------------------------------------------------------------- */

void sim_zk_restart(struct sim_zk *s, struct sim_zk_time now)
{
	for (struct sim_zk_conn *c = s->conns; c; c = c->next) {
		zk_connection_close(c);
		sim_bytes_free(&c->out);
	}
	zk_ensemble_stop(s);
	begin_run(s, now);
	zk_election_end(s);
	s->ping_us = now.up_us + s->options.ping_us;
	for (struct zk_session *one = s->sessions.v; one; one = one->next)
		zk_sessions_touch(&s->sessions, one, zk_ensemble_up_ms(s));
}

void sim_zk_elect(struct sim_zk *s, int n, int64_t until_us,
		  int64_t alone_until_us)
{
	if (s->election.is_on || s->election.alone || n == s->leader)
		return;
	zk_ensemble_stop(s);
	zk_election_begin(s, n, until_us, alone_until_us);
}

static void hold(struct zk_link *l, int64_t from_us, int64_t up_us)
{
	l->held_from_us = from_us;
	l->held_us = up_us;
}

void sim_zk_hold_up(struct sim_zk *s, int n, int64_t up_us)
{
	hold(&s->servers[n].up, 0, up_us);
	hold(&s->servers[n].down, 0, up_us);
}

void sim_zk_hold_up_in_turn(struct sim_zk *s, int n, int64_t from_us,
			    int64_t up_us)
{
	hold(&s->servers[n].down, 0, from_us);
	hold(&s->servers[n].up, from_us, up_us);
}

int64_t sim_zk_over_us(const struct sim_zk_conn *c)
{
	const struct zk_session *one =
		zk_sessions_find(&c->server->ensemble->sessions, c->session);

	return one ? one->over_ms * 1000 : INT64_MAX;
}

int sim_zk_has_written(const struct sim_zk_conn *c)
{
	return c->has_written;
}

/* ---- Contents ------------------------------------------------------------ */

const char *sim_zk_ephemeral(const struct sim_zk *s, size_t n)
{
	const struct zk_tree *t = &s->servers[s->leader].tree;

	for (const struct zk_node *i = t->nodes; i; i = i->next) {
		if (i->owner > 0 && n-- == 0)
			return i->path;
	}
	return NULL;
}
