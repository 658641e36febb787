/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/call.h"

#include <ctype.h>

void rm_reply_syntax(const struct rm_call *call)
{
	rm_reply_error(call->out, "ERR syntax error");
}

void rm_reply_subcommand(const struct rm_call *call, const char *command)
{
	rm_reply_error(call->out,
		       "ERR unknown subcommand '%.128s'. Try %s HELP.",
		       call->argv[1].s, command);
}

void rm_reply_arity(const struct rm_call *call)
{
	char name[64];
	size_t n = call->argv[0].len < 63 ? call->argv[0].len : 63;

	for (size_t i = 0; i < n; i++)
		name[i] = (char)tolower((unsigned char)call->argv[0].s[i]);
	name[n] = '\0';
	rm_reply_error(call->out,
		       "ERR wrong number of arguments for '%s' command", name);
}

int rm_integer_arg(const struct rm_call *call, size_t at, int64_t *out)
{
	if (rm_integer(call->argv[at], out))
		return 1;
	rm_reply_error(call->out,
		       "ERR value is not an integer or out of range");
	return 0;
}

int rm_find_typed(const struct rm_call *call, struct rm_text key,
		  enum rm_type type, struct rm_value **out)
{
	*out = rm_db_find(rm_db_of(call), key, rm_now_ms(call));
	if (!*out || (*out)->type == type)
		return 1;
	rm_reply_error(call->out, "WRONGTYPE Operation against a key holding "
				  "the wrong kind of value");
	return 0;
}

int rm_make_typed(const struct rm_call *call, struct rm_text key,
		  enum rm_type type, struct rm_value **out)
{
	if (!rm_find_typed(call, key, type, out))
		return 0;
	if (!*out)
		*out = rm_db_put(rm_db_of(call), key, type);
	return 1;
}
