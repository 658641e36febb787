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

/* "subscribe", the channel, or nil, and how many there are. */
static void reply(const struct rm_call *call, const char *what,
		  const struct rm_text *channel)
{
	rm_reply_array(call->out, 3);
	rm_reply_word(call->out, what);
	if (channel)
		rm_reply_text(call->out, *channel);
	else
		rm_reply_nil(call->out);
	rm_reply_integer(call->out, (int64_t)call->conn->channels.n);
}

void rm_subscribe(const struct rm_call *call)
{
	for (size_t i = 1; i < call->argc; i++) {
		rm_map_add(&call->conn->channels, call->argv[i]);
		reply(call, "subscribe", &call->argv[i]);
	}
}

static void unsubscribe(const struct rm_call *call, struct rm_text channel)
{
	struct rm_entry *entry = rm_map_find(&call->conn->channels, channel);

	if (entry)
		rm_map_remove(&call->conn->channels, entry);
	reply(call, "unsubscribe", &channel);
}

void rm_unsubscribe(const struct rm_call *call)
{
	struct rm_map *channels = &call->conn->channels;

	for (size_t i = 1; i < call->argc; i++)
		unsubscribe(call, call->argv[i]);
	if (call->argc > 1)
		return;
	if (channels->n == 0)
		reply(call, "unsubscribe", NULL);
	while (channels->n > 0) {
		struct sim_bytes name = { 0 };
		struct rm_text key = channels->entries[0].key;

		sim_bytes_add(&name, key.s, key.len);
		unsubscribe(call, (struct rm_text){ sim_bytes_text(&name),
						    name.len });
		sim_bytes_free(&name);
	}
}
