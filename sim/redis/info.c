/* SPDX-License-Identifier: Apache-2.0 */
/* INFO and CONFIG of the model Redis. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/redis/call.h"
#include "sim/redis/commands.h"

/* ---- INFO ---------------------------------------------------------------- */

static void add_server(const struct rm_call *call, struct sim_bytes *text)
{
	sim_bytes_printf(text,
			 "# Server\r\nredis_version:7.0.15\r\n"
			 "redis_mode:standalone\r\nrun_id:%s\r\n"
			 "server_time_usec:%" PRId64 "\r\n",
			 call->server->run_id, call->now_us);
}

static void add_memory(const struct rm_call *call, struct sim_bytes *text)
{
	sim_bytes_printf(text,
			 "# Memory\r\nmaxmemory:%d\r\n"
			 "maxmemory_policy:noeviction\r\n",
			 call->server->is_full);
}

static void add_persistence(const struct rm_call *call, struct sim_bytes *text)
{
	sim_bytes_printf(text,
			 "# Persistence\r\nloading:%d\r\n"
			 "aof_enabled:0\r\n",
			 call->server->is_loading);
}

static void add_replication(const struct rm_call *call, struct sim_bytes *text)
{
	sim_bytes_printf(text, "# Replication\r\nrole:%s\r\n",
			 call->server->is_replica ? "slave" : "master");
}

static const struct section {
	const char *name;
	void (*add)(const struct rm_call *call, struct sim_bytes *text);
} sections[] = {
	{ "server", add_server },
	{ "memory", add_memory },
	{ "persistence", add_persistence },
	{ "replication", add_replication },
};

static int is_wanted(const struct rm_call *call, const struct section *section)
{
	for (size_t i = 1; i < call->argc; i++) {
		if (rm_is(call->argv[i], section->name) ||
		    rm_is(call->argv[i], "all") ||
		    rm_is(call->argv[i], "default") ||
		    rm_is(call->argv[i], "everything"))
			return 1;
	}
	return call->argc == 1;
}

void rm_info(const struct rm_call *call)
{
	struct sim_bytes text = { 0 };

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!is_wanted(call, &sections[i]))
			continue;
		if (text.len > 0)
			sim_bytes_text_add(&text, "\r\n");
		sections[i].add(call, &text);
	}
	rm_reply_text(call->out,
		      (struct rm_text){ sim_bytes_text(&text), text.len });
	sim_bytes_free(&text);
}

void rm_time(const struct rm_call *call)
{
	char text[RM_INTEGER_SIZE];

	rm_reply_array(call->out, 2);
	rm_print_integer(text, call->now_us / 1000000);
	rm_reply_word(call->out, text);
	rm_print_integer(text, call->now_us % 1000000);
	rm_reply_word(call->out, text);
}

/* ---- Settings ------------------------------------------------------------ */

/* "CONFIG SET maxmemory BYTES".  The model counts no bytes: it is full if an
 * empty server uses more. */
void rm_config(const struct rm_call *call)
{
	int64_t n;

	if (!rm_is(call->argv[1], "SET") || call->argc != 4 ||
	    !rm_is(call->argv[2], "maxmemory")) {
		rm_reply_subcommand(call, "CONFIG");
	} else if (rm_integer_arg(call, 3, &n)) {
		sim_redis_set_full(call->server, n > 0 && n < 500000);
		rm_reply_status(call->out, "OK");
	}
}

/* The master given never answers: the keys stay. */
void rm_replicaof(const struct rm_call *call)
{
	sim_redis_set_replica(call->server,
			      !rm_is(call->argv[1], "NO") ||
				      !rm_is(call->argv[2], "ONE"));
	rm_reply_status(call->out, "OK");
}
