/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/election.h"

#include "sim/zk/connection.h"

struct zk_server *zk_leader(struct sim_zk *s)
{
	return &s->servers[s->leader];
}

int zk_is_follower(const struct zk_server *server)
{
	return server != zk_leader(server->ensemble) && !server->is_out &&
	       !zk_is_alone(server);
}

int zk_is_alone(const struct zk_server *server)
{
	return server == server->ensemble->election.alone;
}

struct zk_sessions *zk_sessions_of(struct zk_server *server)
{
	struct sim_zk *s = server->ensemble;

	return zk_is_alone(server) ? &s->election.sessions : &s->sessions;
}

int zk_is_electing(const struct sim_zk *s)
{
	return s->election.is_on;
}

static void put_out(struct zk_server *server)
{
	struct sim_zk_conn *c;

	server->is_out = 1;
	for (c = server->ensemble->conns; c; c = c->next) {
		if (c->server == server)
			zk_connection_close(c);
	}
}

void zk_election_begin(struct sim_zk *s, int n, int64_t until_us,
		       int64_t alone_until_us)
{
	struct zk_election *e = &s->election;
	struct zk_server *alone = zk_leader(s);

	for (int i = 0; i <= s->options.followers; i++) {
		if (&s->servers[i] != alone)
			put_out(&s->servers[i]);
	}
	e->is_on = 1;
	e->until_us = until_us;
	e->alone = alone;
	e->alone_until_us = alone_until_us;
	zk_sessions_copy(&e->sessions, &s->sessions);
	s->leader = n;
}

/* The zxids of a new leader have another upper half.  Each session has a whole
 * time-out. */
static void begin_to_lead(struct sim_zk *s)
{
	struct zk_sessions *all = &s->sessions;
	int64_t zxid = ((zk_leader(s)->tree.zxid >> 32) + 1) << 32;

	s->election.is_on = 0;
	for (int i = 0; i <= s->options.followers; i++) {
		if (zk_is_alone(&s->servers[i]))
			continue;
		s->servers[i].tree.zxid = zxid;
		s->servers[i].is_out = 0;
	}
	for (struct zk_session *one = all->v; one; one = one->next)
		zk_sessions_touch(all, one, s->now.up_us / 1000);
	s->ping_us = s->now.up_us + INT64_C(500) * s->options.tick_ms;
	s->containers_us = s->now.up_us +
			   INT64_C(1000) * s->options.containers_ms;
}

/* What the former leader has alone is lost. */
static void join(struct sim_zk *s, struct zk_server *server)
{
	zk_tree_free(&server->tree);
	zk_tree_copy(&server->tree, &zk_leader(s)->tree);
	zk_sessions_free(&s->election.sessions);
	server->n_heard = 0;
	server->is_out = 0;
	s->election.alone = NULL;
}

int64_t zk_election_due(const struct sim_zk *s)
{
	const struct zk_election *e = &s->election;
	int64_t due = e->is_on ? e->until_us : INT64_MAX;

	if (e->alone && !e->alone->is_out && e->alone_until_us < due)
		due = e->alone_until_us;
	return due;
}

void zk_election_ring(struct sim_zk *s)
{
	struct zk_election *e = &s->election;

	if (e->alone && !e->alone->is_out && e->alone_until_us <= s->now.up_us)
		put_out(e->alone);
	if (e->is_on && e->until_us <= s->now.up_us)
		begin_to_lead(s);
	if (e->alone && e->alone->is_out && !e->is_on)
		join(s, e->alone);
}

void zk_election_end(struct sim_zk *s)
{
	s->election.until_us = s->election.alone_until_us = s->now.up_us;
	zk_election_ring(s);
}
