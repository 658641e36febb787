/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "sim/redis/call.h"
#include "sim/redis/commands.h"
#include "sim/redis/lua.h"

/* The name in lower case. */
static struct rm_text lower(struct rm_text sha1, char out[RM_SHA1 + 1])
{
	for (size_t i = 0; i < RM_SHA1; i++)
		out[i] = (char)tolower((unsigned char)sha1.s[i]);
	out[RM_SHA1] = '\0';
	return (struct rm_text){ out, RM_SHA1 };
}

static void run(const struct rm_call *call, struct rm_text sha1)
{
	int64_t n;

	if (!rm_integer_arg(call, 2, &n))
		return;
	if (n > (int64_t)call->argc - 3) {
		rm_reply_error(call->out, "ERR Number of keys can't be greater "
					  "than number of args");
		return;
	}
	if (n < 0) {
		rm_reply_error(call->out,
			       "ERR Number of keys can't be negative");
		return;
	}
	rm_scripts_run(call->server->scripts, sha1, call, call->argv + 3,
		       (size_t)n, call->argv + 3 + n,
		       call->argc - 3 - (size_t)n);
}

void rm_eval(const struct rm_call *call)
{
	struct rm_scripts *scripts = call->server->scripts;
	char sha1[RM_SHA1 + 1];
	struct rm_text name = { sha1, RM_SHA1 };

	rm_scripts_sha1(call->argv[1], sha1);
	if (rm_scripts_has(scripts, name) ||
	    rm_scripts_load(scripts, call->argv[1], sha1, call->out))
		run(call, name);
}

void rm_evalsha(const struct rm_call *call)
{
	char sha1[RM_SHA1 + 1];

	if (call->argv[1].len == RM_SHA1 &&
	    rm_scripts_has(call->server->scripts, lower(call->argv[1], sha1)))
		run(call, (struct rm_text){ sha1, RM_SHA1 });
	else
		rm_reply_error(call->out,
			       "NOSCRIPT No matching script. Please use EVAL.");
}

static void load(const struct rm_call *call)
{
	struct rm_scripts *scripts = call->server->scripts;
	char sha1[RM_SHA1 + 1];
	struct rm_text name = { sha1, RM_SHA1 };

	rm_scripts_sha1(call->argv[2], sha1);
	if (rm_scripts_has(scripts, name) ||
	    rm_scripts_load(scripts, call->argv[2], sha1, call->out))
		rm_reply_text(call->out, name);
}

static void exists(const struct rm_call *call)
{
	char sha1[RM_SHA1 + 1];

	rm_reply_array(call->out, call->argc - 2);
	for (size_t i = 2; i < call->argc; i++)
		rm_reply_integer(
			call->out,
			call->argv[i].len == RM_SHA1 &&
				rm_scripts_has(call->server->scripts,
					       lower(call->argv[i], sha1)));
}

void rm_script(const struct rm_call *call)
{
	if (rm_is(call->argv[1], "LOAD") && call->argc == 3) {
		load(call);
	} else if (rm_is(call->argv[1], "EXISTS") && call->argc > 2) {
		exists(call);
	} else if (rm_is(call->argv[1], "FLUSH") && call->argc == 2) {
		sim_redis_forget_scripts(call->server);
		rm_reply_status(call->out, "OK");
	} else {
		rm_reply_error(call->out,
			       "ERR unknown subcommand '%.128s'. Try SCRIPT "
			       "HELP.",
			       call->argv[1].s);
	}
}
