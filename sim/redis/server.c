/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/server.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/redis/command.h"
#include "sim/redis/lua.h"
#include "sim/redis/request.h"
#include "sim/redis/state.h"

struct sim_redis *sim_redis_new(uint64_t seed)
{
	struct sim_redis *s = sim_alloc(sizeof(*s));

	s->seed = seed;
	s->script_call = rm_command_call_by_script;
	sim_redis_restart(s, 0);
	return s;
}

void sim_redis_free(struct sim_redis *s)
{
	for (struct sim_redis_conn *c = s->conns, *next; c; c = next) {
		next = c->next;
		sim_redis_disconnect(c);
	}
	sim_redis_flush(s);
	sim_redis_forget_scripts(s);
	sim_bytes_free(&s->reply);
	free(s);
}

/* ---- Connections --------------------------------------------------------- */

struct sim_redis_conn *sim_redis_connect(struct sim_redis *s)
{
	struct sim_redis_conn *c = sim_alloc(sizeof(*c));
	struct sim_redis_conn **last = &s->conns;

	while (*last)
		last = &(*last)->next;
	*last = c;
	c->server = s;
	return c;
}

void sim_redis_disconnect(struct sim_redis_conn *c)
{
	struct sim_redis_conn **at = &c->server->conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	rm_map_clear(&c->channels, NULL);
	sim_bytes_free(&c->in);
	sim_bytes_free(&c->out);
	free(c);
}

void sim_redis_input(struct sim_redis_conn *c, const void *bytes, size_t len,
		     int64_t now_us)
{
	enum rm_parsed rc = RM_COMPLETE;
	struct rm_request request = { 0 };
	const char *what = NULL;

	sim_bytes_add(&c->in, bytes, len);
	while (!c->is_closing && rc == RM_COMPLETE) {
		struct rm_call call = { .server = c->server,
					.conn = c,
					.now_us = now_us,
					.out = &c->out };

		rc = rm_request_parse(&c->in, &request, &what);
		if (rc == RM_COMPLETE && request.argc > 0) {
			call.argc = request.argc;
			call.argv = request.argv;
			rm_command_call(&call);
		}
		if (rc == RM_COMPLETE)
			sim_bytes_take(&c->in, request.len);
	}
	free(request.argv);
	if (rc == RM_NONSENSE) {
		rm_reply_error(&c->out, "ERR Protocol error: %s", what);
		c->is_closing = 1;
	}
}

struct sim_bytes *sim_redis_output(struct sim_redis_conn *c)
{
	return &c->out;
}

int sim_redis_is_closing(const struct sim_redis_conn *c)
{
	return c->is_closing;
}
