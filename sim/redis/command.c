/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/command.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim/redis/commands.h"

enum {
	WRITES = 1,  /* refused by a replica */
	GROWS = 2,   /* refused by a full server */
	ALWAYS = 4,  /* while the server loads, too */
	CLIENTS = 8, /* not for scripts */
	LISTENS = 16 /* while subscribed, too */
};

static const struct command {
	const char *name;
	int arity; /* with the name; negative: at least */
	int flags;
	void (*run)(const struct rm_call *call);
} commands[] = {
	{ "get", 2, 0, rm_get },
	{ "set", -3, WRITES | GROWS, rm_set },
	{ "setrange", 4, WRITES | GROWS, rm_setrange },
	{ "del", -2, WRITES, rm_del },
	{ "exists", -2, 0, rm_exists },
	{ "pexpire", 3, WRITES, rm_pexpire },
	{ "persist", 2, WRITES, rm_persist },
	{ "pttl", 2, 0, rm_pttl },
	{ "keys", 2, 0, rm_keys },
	{ "scan", -2, 0, rm_scan },
	{ "flushall", -1, WRITES, rm_flushall },
	{ "hget", 3, 0, rm_hget },
	{ "hmget", -3, 0, rm_hmget },
	{ "hset", -4, WRITES | GROWS, rm_hset },
	{ "hdel", -3, WRITES, rm_hdel },
	{ "zadd", -4, WRITES | GROWS, rm_zadd },
	{ "zrem", -3, WRITES, rm_zrem },
	{ "zcard", 2, 0, rm_zcard },
	{ "zscore", 3, 0, rm_zscore },
	{ "zrank", 3, 0, rm_zrank },
	{ "zrange", -4, 0, rm_zrange },
	{ "zrangebyscore", -4, 0, rm_zrangebyscore },
	{ "ping", -1, LISTENS, rm_ping },
	{ "select", 2, ALWAYS, rm_select },
	{ "client", -2, ALWAYS | CLIENTS, rm_client },
	{ "info", -1, ALWAYS, rm_info },
	{ "time", 1, ALWAYS, rm_time },
	{ "config", -2, ALWAYS | CLIENTS, rm_config },
	{ "replicaof", 3, CLIENTS, rm_replicaof },
	{ "publish", 3, ALWAYS, rm_publish },
	{ "subscribe", -2, ALWAYS | CLIENTS | LISTENS, rm_subscribe },
	{ "eval", -3, CLIENTS, rm_eval },
	{ "evalsha", -3, CLIENTS, rm_evalsha },
	{ "script", -2, CLIENTS, rm_script },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

#define OOM "OOM command not allowed when used memory > 'maxmemory'."
#define READONLY "READONLY You can't write against a read only replica."

/* ---- Calls --------------------------------------------------------------- */

/* Places in the table by a hash of the name; 0: empty, else the place + 1. */
enum { SLOTS = 256 };
static unsigned char slots[SLOTS];

static size_t slot_of(const char *name, size_t len)
{
	size_t hash = len;

	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + ((unsigned char)name[i] | 0x20);
	return hash % SLOTS;
}

static void fill_slots(void)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const char *name = commands[i].name;
		size_t at = slot_of(name, strlen(name));

		while (slots[at] != 0)
			at = (at + 1) % SLOTS;
		slots[at] = (unsigned char)(i + 1);
	}
}

static const struct command *find(struct rm_text name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_slots);
	for (size_t at = slot_of(name.s, name.len); slots[at] != 0;
	     at = (at + 1) % SLOTS) {
		const struct command *command = &commands[slots[at] - 1];

		if (rm_is(name, command->name))
			return command;
	}
	return NULL;
}

static int fits(const struct command *command, size_t argc)
{
	return command->arity > 0 ? argc == (size_t)command->arity :
				    argc >= (size_t)-command->arity;
}

static void reply_unknown(const struct rm_call *call)
{
	struct sim_bytes args = { 0 };

	for (size_t i = 1; i < call->argc && args.len < 128; i++)
		sim_bytes_printf(&args, "'%.*s' ", 128 - (int)args.len,
				 call->argv[i].s);
	rm_reply_error(call->out,
		       "ERR unknown command '%.128s', with args beginning "
		       "with: %s",
		       call->argv[0].s, sim_bytes_text(&args));
	sim_bytes_free(&args);
}

/* Whether the server, as it is, refuses the command; the reply says why. */
static int is_refused(const struct rm_call *call, const struct command *command)
{
	const struct sim_redis *s = call->server;

	if (s->is_full && (command->flags & GROWS))
		rm_reply_error(call->out, OOM);
	else if (s->is_replica && (command->flags & WRITES))
		rm_reply_error(call->out, READONLY);
	else if (call->conn->channels.n > 0 && !(command->flags & LISTENS))
		rm_reply_error(call->out,
			       "ERR Can't execute '%s': only (P|S)SUBSCRIBE / "
			       "(P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
			       "allowed in this context",
			       command->name);
	else if (s->is_loading && !(command->flags & ALWAYS))
		rm_reply_error(call->out, "LOADING Redis is loading the "
					  "dataset in memory");
	else
		return 0;
	return 1;
}

void rm_command_call(const struct rm_call *call)
{
	const struct command *command = find(call->argv[0]);

	if (!command)
		reply_unknown(call);
	else if (!fits(command, call->argc))
		rm_reply_arity(call);
	else if (!is_refused(call, command))
		command->run(call);
}

void rm_command_call_by_script(const struct rm_call *call, struct rm_run *r)
{
	const struct command *command = find(call->argv[0]);

	if (!command) {
		rm_reply_error(call->out, "ERR Unknown Redis command called "
					  "from script");
	} else if (!fits(command, call->argc)) {
		rm_reply_error(call->out, "ERR Wrong number of args calling "
					  "Redis command from script");
	} else if (command->flags & CLIENTS) {
		rm_reply_error(call->out, "ERR This Redis command is not "
					  "allowed from script");
	} else if ((command->flags & WRITES) && call->server->is_replica) {
		rm_reply_error(call->out, READONLY);
	} else if ((command->flags & GROWS) && call->server->is_full &&
		   r->was_full && !r->has_written) {
		rm_reply_error(call->out, OOM);
	} else {
		r->has_written |= (command->flags & WRITES) != 0;
		command->run(call);
	}
}
