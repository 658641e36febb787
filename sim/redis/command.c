/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/command.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim/redis/commands.h"

enum {
	WRITES = 1,   /* refused by a replica */
	GROWS = 2,    /* refused by a full server */
	ALWAYS = 4,   /* while the server loads, too */
	ANYBODY = 8,  /* before AUTH, too */
	CLIENTS = 16, /* not for scripts */
	LISTENS = 32  /* while subscribed, too */
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
	{ "type", 2, 0, rm_type_of },
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
	{ "auth", -2, ALWAYS | ANYBODY | CLIENTS, rm_auth },
	{ "select", 2, ALWAYS, rm_select },
	{ "client", -2, ALWAYS | CLIENTS, rm_client },
	{ "quit", -1, ALWAYS | ANYBODY | CLIENTS | LISTENS, rm_quit },
	{ "info", -1, ALWAYS, rm_info },
	{ "time", 1, ALWAYS, rm_time },
	{ "config", -2, ALWAYS | CLIENTS, rm_config },
	{ "replicaof", 3, CLIENTS, rm_replicaof },
	{ "publish", 3, ALWAYS, rm_publish },
	{ "subscribe", -2, ALWAYS | CLIENTS | LISTENS, rm_subscribe },
	{ "unsubscribe", -1, ALWAYS | CLIENTS | LISTENS, rm_unsubscribe },
	{ "eval", -3, CLIENTS, rm_eval },
	{ "evalsha", -3, CLIENTS, rm_evalsha },
	{ "script", -2, CLIENTS, rm_script },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
_Static_assert(N_COMMANDS <= RM_COMMANDS_MAX, "sim_redis.calls is too short");

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

size_t rm_command_find(struct rm_text name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_slots);
	for (size_t at = slot_of(name.s, name.len); slots[at] != 0;
	     at = (at + 1) % SLOTS) {
		size_t i = slots[at] - 1u;

		if (rm_is(name, commands[i].name))
			return i;
	}
	return RM_COMMANDS_MAX;
}

static int fits(const struct command *command, size_t argc)
{
	return command->arity > 0 ? argc == (size_t)command->arity :
				    argc >= (size_t)-command->arity;
}

static int is_denied(const struct rm_call *call, const struct command *command)
{
	const char *denied = call->server->denied;
	char name[68];

	if (!denied)
		return 0;
	snprintf(name, sizeof(name), " %s ", command->name);
	return strstr(denied, name) != NULL;
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

static void run(const struct rm_call *call, size_t at)
{
	call->server->calls[at]++;
	commands[at].run(call);
}

/* Whether the server, as it is, refuses the command; the reply says why. */
static int is_refused(const struct rm_call *call, const struct command *command)
{
	const struct sim_redis *s = call->server;
	const char *name = command->name;

	if (is_denied(call, command))
		rm_reply_error(call->out,
			       "NOPERM this user has no permissions to run "
			       "the '%s' command",
			       name);
	else if (s->is_full && (command->flags & GROWS))
		rm_reply_error(call->out, OOM);
	else if (s->is_replica && (command->flags & WRITES))
		rm_reply_error(call->out, READONLY);
	else if (call->conn->channels.n > 0 && !(command->flags & LISTENS))
		rm_reply_error(call->out,
			       "ERR Can't execute '%s': only (P|S)SUBSCRIBE / "
			       "(P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
			       "allowed in this context",
			       name);
	else if (s->is_loading && !(command->flags & ALWAYS))
		rm_reply_error(call->out, "LOADING Redis is loading the "
					  "dataset in memory");
	else
		return 0;
	return 1;
}

void rm_command_call(const struct rm_call *call)
{
	size_t at = rm_command_find(call->argv[0]);

	if (at == RM_COMMANDS_MAX)
		reply_unknown(call);
	else if (!fits(&commands[at], call->argc))
		rm_reply_arity(call);
	else if (call->server->password.len > 0 &&
		 !call->conn->is_authenticated &&
		 !(commands[at].flags & ANYBODY))
		rm_reply_error(call->out, "NOAUTH Authentication required.");
	else if (!is_refused(call, &commands[at]))
		run(call, at);
}

void rm_command_call_by_script(const struct rm_call *call, struct rm_run *r)
{
	size_t at = rm_command_find(call->argv[0]);
	const struct command *command;

	if (at == RM_COMMANDS_MAX) {
		rm_reply_error(call->out, "ERR Unknown Redis command called "
					  "from script");
		return;
	}
	command = &commands[at];
	if (!fits(command, call->argc)) {
		rm_reply_error(call->out, "ERR Wrong number of args calling "
					  "Redis command from script");
	} else if (command->flags & CLIENTS) {
		rm_reply_error(call->out, "ERR This Redis command is not "
					  "allowed from script");
	} else if (is_denied(call, command)) {
		rm_reply_error(call->out, "ERR The user executing the script "
					  "can't run this command or "
					  "subcommand");
	} else if ((command->flags & WRITES) && call->server->is_replica) {
		rm_reply_error(call->out, READONLY);
	} else if ((command->flags & GROWS) && call->server->is_full &&
		   r->was_full && !r->has_written) {
		rm_reply_error(call->out, OOM);
	} else {
		r->has_written |= (command->flags & WRITES) != 0;
		run(call, at);
	}
}
