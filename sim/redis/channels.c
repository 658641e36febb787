/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

void rm_publish(const struct rm_call *call)
{
	int64_t n = 0;

	for (struct sim_redis_conn *c = call->server->conns; c; c = c->next) {
		if (c->is_closing || !rm_map_find(&c->channels, call->argv[1]))
			continue;
		rm_reply_array(&c->out, 3);
		rm_reply_word(&c->out, "message");
		rm_reply_text(&c->out, call->argv[1]);
		rm_reply_text(&c->out, call->argv[2]);
		n++;
	}
	rm_reply_integer(call->out, n);
}

void rm_subscribe(const struct rm_call *call)
{
	struct rm_map *channels = &call->conn->channels;

	for (size_t i = 1; i < call->argc; i++) {
		rm_map_add(channels, call->argv[i]);
		rm_reply_array(call->out, 3);
		rm_reply_word(call->out, "subscribe");
		rm_reply_text(call->out, call->argv[i]);
		rm_reply_integer(call->out, (int64_t)channels->n);
	}
}
