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
	rm_scripts_run(sha1, call, call->argv + 3, (size_t)n,
		       call->argv + 3 + n, call->argc - 3 - (size_t)n);
}

/* Load the text into the server.  `sha1` becomes the name.  1, or the reply
 * with the error. */
static int load(const struct rm_call *call, struct rm_text text,
		char sha1[RM_SHA1 + 1])
{
	if (!rm_scripts_compile(text, sha1, call->out))
		return 0;
	rm_map_add(&call->server->scripts, (struct rm_text){ sha1, RM_SHA1 });
	return 1;
}

static int has(const struct rm_call *call, struct rm_text name,
	       char sha1[RM_SHA1 + 1])
{
	return name.len == RM_SHA1 &&
	       rm_map_find(&call->server->scripts, lower(name, sha1));
}

void rm_eval(const struct rm_call *call)
{
	char sha1[RM_SHA1 + 1];

	if (load(call, call->argv[1], sha1))
		run(call, (struct rm_text){ sha1, RM_SHA1 });
}

void rm_evalsha(const struct rm_call *call)
{
	char sha1[RM_SHA1 + 1];

	if (has(call, call->argv[1], sha1))
		run(call, (struct rm_text){ sha1, RM_SHA1 });
	else
		rm_reply_error(call->out,
			       "NOSCRIPT No matching script. Please use EVAL.");
}

void rm_script(const struct rm_call *call)
{
	if (!rm_is(call->argv[1], "FLUSH") || call->argc != 2) {
		rm_reply_subcommand(call, "SCRIPT");
		return;
	}
	sim_redis_forget_scripts(call->server);
	rm_reply_status(call->out, "OK");
}
