/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/ensemble.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/zk/answers.h"
#include "sim/zk/connection.h"
#include "sim/zk/election.h"
#include "sim/zk/watches.h"

static const char config[] = "server.1=a:1:1:participant;0.0.0.0:2181\n"
			     "server.2=b:1:1:participant;0.0.0.0:2181\n"
			     "server.3=c:1:1:participant;0.0.0.0:2181\n"
			     "version=0";

int64_t zk_ensemble_up_ms(const struct sim_zk *s)
{
	return s->now.up_us / 1000;
}

void zk_ensemble_begin(struct sim_zk *s)
{
	s->ping_us = s->now.up_us + s->options.ping_us;
	for (int i = 0; i <= s->options.followers; i++) {
		struct zk_server *server = &s->servers[i];

		*server = (struct zk_server){ .ensemble = s };
		zk_tree_begin(&server->tree,
			      s->options.followers > 0 ? config : "");
		zk_link_begin(&server->up);
		zk_link_begin(&server->down);
	}
}

void zk_ensemble_end(struct sim_zk *s)
{
	for (int i = 0; i <= s->options.followers; i++) {
		zk_tree_free(&s->servers[i].tree);
		zk_link_clear(&s->servers[i].up);
		zk_link_clear(&s->servers[i].down);
	}
}

static struct sim_zk_conn *conn_of(const struct zk_server *server, uint64_t id)
{
	struct sim_zk_conn *c = server->ensemble->conns;

	while (c && (c->id != id || c->server != server))
		c = c->next;
	return c;
}

static struct zk_message *say(struct zk_server *server, int is_up,
			      enum zk_kind kind, uint64_t conn)
{
	struct sim_zk *s = server->ensemble;

	return zk_link_put(is_up ? &server->up : &server->down, kind, conn,
			   s->now.up_us + s->options.link_us);
}

/* ---- Transactions -------------------------------------------------------- */

/* A session that has ended has no connection. */
static void apply(struct zk_server *server, const struct zk_op *op,
		  uint64_t conn)
{
	struct sim_zk_conn *c = conn_of(server, conn);

	zk_tree_apply(&server->tree, op, zk_watches_tell, server);
	if (c)
		zk_connection_ready(c, op);
	if (op->type != ZK_END_SESSION)
		return;
	for (c = server->ensemble->conns; c; c = c->next) {
		if (c->server == server && c->session == op->session)
			zk_connection_close(c);
	}
}

void zk_ensemble_commit(struct sim_zk *s, struct zk_op *op, uint64_t conn)
{
	op->zxid = zk_leader(s)->tree.zxid + 1;
	op->wall_ms = s->now.wall_us / 1000;
	zk_tree_prepare(&zk_leader(s)->tree, op);
	if (op->err == 0 && s->options.judge)
		s->options.judge(&zk_leader(s)->tree, op);
	for (int i = 0; i <= s->options.followers; i++) {
		if (zk_is_follower(&s->servers[i]))
			say(&s->servers[i], 0, ZK_COMMIT, conn)->op = *op;
	}
	apply(zk_leader(s), op, conn);
	if (op->type == ZK_END_SESSION)
		zk_sessions_remove(&s->sessions, op->session);
}

/* ---- Sessions ------------------------------------------------------------ */

/* The leader of the server has heard of the session. */
static void touch(struct zk_server *server, int64_t id)
{
	struct zk_sessions *all = zk_sessions_of(server);
	struct zk_session *one = zk_sessions_find(all, id);

	if (one)
		zk_sessions_touch(all, one,
				  zk_ensemble_up_ms(server->ensemble));
}

/* A follower remembers whom it heard, until the leader pings. */
static void note(struct zk_server *server, int64_t id)
{
	size_t i = 0;

	if (!zk_is_follower(server)) {
		touch(server, id);
		return;
	}
	while (i < server->n_heard && server->heard[i] != id)
		i++;
	if (i == ZK_TOUCHED)
		sim_panic("more than %d sessions", ZK_TOUCHED);
	server->heard[i] = id;
	server->n_heard += i == server->n_heard;
}

/* A leader that is alone knows as well that a session is over. */
static int is_over(struct zk_server *server, const struct zk_session *one)
{
	return zk_is_alone(server) &&
	       one->over_ms <= zk_ensemble_up_ms(server->ensemble);
}

/* The leader's part.  NULL: the session is unknown. */
static const struct zk_session *open_session(struct zk_server *server,
					     const struct zk_session *asked,
					     uint64_t conn)
{
	struct sim_zk *s = server->ensemble;
	struct zk_sessions *all = zk_sessions_of(server);
	struct zk_op op = { .type = ZK_BEGIN_SESSION };
	struct zk_session *one;

	if (asked->id == 0) {
		zk_ensemble_commit(s, &op, 0);
		one = zk_sessions_add(all, asked->timeout_ms,
				      zk_ensemble_up_ms(s));
	} else {
		one = zk_sessions_find(all, asked->id);
		if (!one || is_over(server, one) ||
		    memcmp(one->password, asked->password, ZK_PASSWORD) != 0)
			return NULL;
		one->timeout_ms = zk_sessions_limit(all, asked->timeout_ms);
		touch(server, one->id);
	}
	one->conn = conn;
	return one;
}

/* The session leaves the connection that it had at this server. */
static void welcome(struct zk_server *server, uint64_t conn,
		    const struct zk_session *one)
{
	struct sim_zk_conn *c;

	for (c = server->ensemble->conns; one && c; c = c->next) {
		if (c->server == server && c->session == one->id)
			zk_connection_close(c);
	}
	c = conn_of(server, conn);
	if (c)
		zk_connection_begun(c, one);
	if (c && one)
		note(server, one->id);
}

/* A leader that is alone gets no agreement on another session. */
void zk_ensemble_begin_session(struct sim_zk_conn *c, int32_t timeout_ms,
			       int64_t id, const char *password)
{
	struct zk_session asked = { .id = id, .timeout_ms = timeout_ms };

	memcpy(asked.password, password, ZK_PASSWORD);
	if (zk_is_follower(c->server))
		say(c->server, 1, ZK_BEGIN, c->id)->session = asked;
	else if (id != 0 || !zk_is_alone(c->server))
		welcome(c->server, c->id,
			open_session(c->server, &asked, c->id));
}

/* ---- Requests ------------------------------------------------------------ */

/* The session may have gone on elsewhere since. */
static int is_moved(struct zk_server *server, const struct zk_op *op,
		    uint64_t conn)
{
	const struct zk_session *one = zk_sessions_find(zk_sessions_of(server),
							op->session);

	return !one || one->conn != conn;
}

void zk_ensemble_request(struct sim_zk_conn *c, const struct zk_op *op)
{
	struct zk_op mine = *op;

	note(c->server, op->session);
	if (!zk_is_write(op->type) && op->type != ZK_SYNC)
		return;
	if (zk_is_follower(c->server))
		say(c->server, 1, ZK_ASK, c->id)->op = mine;
	else if (is_moved(c->server, op, c->id))
		zk_connection_close(c);
	else if (!zk_is_write(op->type))
		zk_connection_ready(c, &mine);
	else if (!zk_is_alone(c->server))
		zk_ensemble_commit(c->server->ensemble, &mine, c->id);
}

static void asked(struct zk_server *server, struct zk_message *m)
{
	if (is_moved(server, &m->op, m->conn))
		say(server, 0, ZK_MOVED, m->conn);
	else if (zk_is_write(m->op.type))
		zk_ensemble_commit(server->ensemble, &m->op, m->conn);
	else
		say(server, 0, ZK_SYNCED, m->conn)->op = m->op;
}

static void take_up(struct zk_server *server, struct zk_message *m)
{
	const struct zk_session *one;
	struct zk_message *answer;

	if (m->kind == ZK_ASK) {
		asked(server, m);
	} else if (m->kind == ZK_BEGIN) {
		one = open_session(server, &m->session, m->conn);
		answer = say(server, 0, ZK_BEGUN, m->conn);
		if (one)
			answer->session = *one;
	} else {
		for (size_t i = 0; i < m->n_heard; i++)
			touch(server, m->heard[i]);
	}
}

static void answer_ping(struct zk_server *server)
{
	struct zk_message *m = say(server, 1, ZK_HEARD, 0);

	memcpy(m->heard, server->heard, sizeof(m->heard));
	m->n_heard = server->n_heard;
	server->n_heard = 0;
}

static void take_down(struct zk_server *server, const struct zk_message *m)
{
	struct sim_zk_conn *c = conn_of(server, m->conn);

	if (m->kind == ZK_COMMIT)
		apply(server, &m->op, m->conn);
	else if (m->kind == ZK_LEADER_PING)
		answer_ping(server);
	else if (m->kind == ZK_BEGUN)
		welcome(server, m->conn, m->session.id ? &m->session : NULL);
	else if (c && m->kind == ZK_SYNCED)
		zk_connection_ready(c, &m->op);
	else if (c)
		zk_connection_close(c);
}

/* ---- Time ---------------------------------------------------------------- */

int64_t zk_ensemble_due(const struct sim_zk *s)
{
	int64_t due = s->options.followers > 0 && !zk_is_electing(s) ?
			      s->ping_us :
			      INT64_MAX;

	for (int i = 0; i <= s->options.followers; i++) {
		int64_t up = zk_link_due(&s->servers[i].up);
		int64_t down = zk_link_due(&s->servers[i].down);

		due = up < due ? up : due;
		due = down < due ? down : due;
	}
	return due;
}

static void pass_messages(struct zk_server *server)
{
	int64_t now = server->ensemble->now.up_us;

	while (zk_link_due(&server->up) <= now) {
		struct zk_message *m = zk_link_take(&server->up);

		take_up(server, m);
		free(m);
	}
	while (zk_link_due(&server->down) <= now) {
		struct zk_message *m = zk_link_take(&server->down);

		take_down(server, m);
		free(m);
	}
}

void zk_ensemble_ring(struct sim_zk *s)
{
	for (int i = 0; i <= s->options.followers; i++) {
		if (!zk_is_follower(&s->servers[i]))
			continue;
		if (s->ping_us <= s->now.up_us)
			say(&s->servers[i], 0, ZK_LEADER_PING, 0);
		pass_messages(&s->servers[i]);
	}
	if (s->ping_us <= s->now.up_us)
		s->ping_us = s->now.up_us + INT64_C(500) * s->options.tick_ms;
}

void zk_ensemble_stop(struct sim_zk *s)
{
	for (int i = 0; i <= s->options.followers; i++) {
		struct zk_server *server = &s->servers[i];

		while (server->down.first) {
			struct zk_message *m = zk_link_take(&server->down);

			if (m->kind == ZK_COMMIT)
				apply(server, &m->op, 0);
			free(m);
		}
		zk_link_clear(&server->up);
		server->n_heard = 0;
	}
}
