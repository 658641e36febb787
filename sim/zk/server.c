/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/zk/answers.h"
#include "sim/zk/frames.h"
#include "sim/zk/watches.h"

enum { TICK_MS = 2000, CONTAINERS_MS = 60000, MOST = 1 << 20 };

static int64_t up_ms(const struct sim_zk *s)
{
	return s->now.up_us / 1000;
}

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
	zk_tree_begin(&s->tree, "");
	begin_run(s, now);
	return s;
}

void sim_zk_free(struct sim_zk *s)
{
	while (s->conns)
		sim_zk_disconnect(s->conns);
	zk_sessions_free(&s->sessions);
	zk_tree_free(&s->tree);
	free(s);
}

/* ---- Transactions -------------------------------------------------------- */

static void carry_out(struct sim_zk *s, struct zk_op *op)
{
	op->zxid = s->tree.zxid + 1;
	op->wall_ms = s->now.wall_us / 1000;
	zk_tree_prepare(&s->tree, op);
	zk_tree_apply(&s->tree, op, zk_watches_tell, s);
	if (op->type == ZK_END_SESSION)
		zk_sessions_remove(&s->sessions, op->session);
}

static void close_connection(struct sim_zk_conn *c)
{
	c->is_closing = 1;
	zk_watches_clear(c);
}

static void end_session(struct sim_zk *s, int64_t id)
{
	struct zk_op op = { .type = ZK_END_SESSION, .session = id };

	carry_out(s, &op);
	for (struct sim_zk_conn *c = s->conns; c; c = c->next) {
		if (c->session == id)
			close_connection(c);
	}
}

/* ---- Time ---------------------------------------------------------------- */

int64_t sim_zk_due(const struct sim_zk *s)
{
	const struct zk_session *first = zk_sessions_first(&s->sessions);
	int64_t due = s->containers_us;

	if (first && first->over_ms * 1000 < due)
		due = first->over_ms * 1000;
	return due;
}

static void collect(struct sim_zk *s)
{
	const struct zk_node *n;

	while ((n = zk_tree_unused(&s->tree, 0))) {
		struct zk_op op = { .type = ZK_DELETE_CONTAINER,
				    .version = -1 };

		memcpy(op.path, n->path, strlen(n->path) + 1);
		carry_out(s, &op);
	}
}

void sim_zk_ring(struct sim_zk *s, struct sim_zk_time now)
{
	const struct zk_session *first;

	s->now = now;
	while ((first = zk_sessions_first(&s->sessions)) &&
	       first->over_ms <= up_ms(s))
		end_session(s, first->id);
	if (s->containers_us > now.up_us)
		return;
	s->containers_us = now.up_us + s->options.containers_ms * 1000;
	collect(s);
}

/* ---- Connections --------------------------------------------------------- */

struct sim_zk_conn *sim_zk_connect(struct sim_zk *s)
{
	struct sim_zk_conn *c = sim_alloc(sizeof(*c));

	c->server = s;
	c->next = s->conns;
	s->conns = c;
	return c;
}

void sim_zk_disconnect(struct sim_zk_conn *c)
{
	struct sim_zk_conn **at = &c->server->conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	zk_watches_clear(c);
	sim_bytes_free(&c->in);
	sim_bytes_free(&c->out);
	free(c);
}

/* A session that is unknown gets a time-out of 0. */
static void greet(struct sim_zk_conn *c, const struct zk_session *one)
{
	static const char none[ZK_PASSWORD];
	size_t frame = zk_frame_open(&c->out);

	zk_put_int(&c->out, 0);
	zk_put_int(&c->out, one ? one->timeout_ms : 0);
	zk_put_long(&c->out, one ? one->id : 0);
	zk_put_text(&c->out, one ? one->password : none, ZK_PASSWORD);
	zk_put_bool(&c->out, 0);
	zk_frame_end(&c->out, frame);
	if (!one)
		close_connection(c);
}

static struct zk_session *begin_session(struct sim_zk *s, int32_t timeout_ms)
{
	struct zk_op op = { .type = ZK_BEGIN_SESSION };

	carry_out(s, &op);
	return zk_sessions_add(&s->sessions, timeout_ms, up_ms(s));
}

/* The session leaves the connection that it had. */
static struct zk_session *resume(struct sim_zk *s, int64_t id,
				 int32_t timeout_ms, const char *password)
{
	struct zk_session *one = zk_sessions_find(&s->sessions, id);

	if (!one || memcmp(one->password, password, ZK_PASSWORD) != 0)
		return NULL;
	for (struct sim_zk_conn *c = s->conns; c; c = c->next) {
		if (c->session == id)
			close_connection(c);
	}
	one->timeout_ms = zk_sessions_limit(&s->sessions, timeout_ms);
	zk_sessions_touch(&s->sessions, one, up_ms(s));
	return one;
}

/* A client that has seen more than this server is turned away. */
static int begin(struct sim_zk_conn *c, struct zk_in *in)
{
	struct sim_zk *s = c->server;
	char password[ZK_PASSWORD + 1] = "";
	struct zk_session *one;
	int32_t timeout_ms;
	int64_t seen, id;

	(void)zk_read_int(in);
	seen = zk_read_long(in);
	timeout_ms = zk_read_int(in);
	id = zk_read_long(in);
	(void)zk_read_text(in, password, sizeof(password));
	if (in->is_bad || seen > s->tree.zxid)
		return 0;
	one = id == 0 ? begin_session(s, timeout_ms) :
			resume(s, id, timeout_ms, password);
	c->session = one ? one->id : 0;
	greet(c, one);
	return one != NULL;
}

static int carry_out_request(struct sim_zk_conn *c, struct zk_in *in)
{
	struct sim_zk *s = c->server;
	struct zk_session *one = zk_sessions_find(&s->sessions, c->session);
	struct zk_op op;

	if (!zk_request_read(in, &op))
		return 0;
	if (one)
		zk_sessions_touch(&s->sessions, one, up_ms(s));
	op.session = c->session;
	if (zk_is_write(op.type))
		carry_out(s, &op);
	zk_answer(c, &op);
	return op.type != ZK_END_SESSION;
}

/* Return the length of the first packet, or word; 0: more has to come. */
static size_t packet(const struct sim_bytes *in)
{
	struct zk_in head = { (const unsigned char *)sim_bytes_text(in),
			      in->len, 0 };
	int32_t len = zk_read_int(&head);

	if (head.is_bad)
		return 0;
	if (len < 0 || len > MOST)
		return 4;
	return head.left < (size_t)len ? 0 : (size_t)len + 4;
}

void sim_zk_input(struct sim_zk_conn *c, const void *bytes, size_t len,
		  struct sim_zk_time now)
{
	size_t n;

	c->server->now = now;
	sim_bytes_add(&c->in, bytes, len);
	while (!c->is_closing && (n = packet(&c->in)) > 0) {
		const char *at = sim_bytes_text(&c->in);
		struct zk_in in = { (const unsigned char *)at + 4, n - 4, 0 };
		int goes_on;

		if (n == 4) {
			sim_bytes_printf(&c->out,
					 "%.4s is not executed because"
					 " it is not in the whitelist."
					 "\n",
					 at);
			goes_on = 0;
		} else {
			goes_on = c->session ? carry_out_request(c, &in) :
					       begin(c, &in);
		}
		sim_bytes_take(&c->in, n);
		if (!goes_on)
			close_connection(c);
	}
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

void sim_zk_restart(struct sim_zk *s, int memory, struct sim_zk_time now)
{
	for (struct sim_zk_conn *c = s->conns; c; c = c->next) {
		close_connection(c);
		sim_bytes_free(&c->out);
	}
	begin_run(s, now);
	for (struct zk_session *one = s->sessions.v; memory && one;
	     one = one->next)
		zk_sessions_touch(&s->sessions, one, up_ms(s));
	if (memory)
		return;
	zk_sessions_free(&s->sessions);
	zk_tree_free(&s->tree);
	zk_tree_begin(&s->tree, "");
}

/* ---- Contents ------------------------------------------------------------ */

const char *sim_zk_ephemeral(const struct sim_zk *s, size_t n)
{
	for (const struct zk_node *i = s->tree.nodes; i; i = i->next) {
		if (i->owner > 0 && n-- == 0)
			return i->path;
	}
	return NULL;
}
