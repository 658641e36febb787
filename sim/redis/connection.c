/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

void rm_ping(const struct rm_call *call)
{
	if (call->argc > 2) {
		rm_reply_arity(call);
	} else if (call->conn->channels.n > 0) {
		rm_reply_array(call->out, 2);
		rm_reply_word(call->out, "pong");
		if (call->argc == 2)
			rm_reply_text(call->out, call->argv[1]);
		else
			rm_reply_word(call->out, "");
	} else if (call->argc == 2) {
		rm_reply_text(call->out, call->argv[1]);
	} else {
		rm_reply_status(call->out, "PONG");
	}
}

void rm_select(const struct rm_call *call)
{
	int64_t db;

	if (!rm_integer(call->argv[1], &db)) {
		rm_reply_error(call->out, "ERR value is not an integer or out "
					  "of range");
		return;
	}
	if (db < 0 || db >= RM_DBS) {
		rm_reply_error(call->out, "ERR DB index is out of range");
		return;
	}
	call->conn->db = (size_t)db;
	rm_reply_status(call->out, "OK");
}

static void set_name(const struct rm_call *call)
{
	struct rm_text name = call->argv[2];

	for (size_t i = 0; i < name.len; i++) {
		if (name.s[i] < '!' || name.s[i] > '~') {
			rm_reply_error(call->out,
				       "ERR Client names cannot contain "
				       "spaces, newlines or special "
				       "characters.");
			return;
		}
	}
	rm_reply_status(call->out, "OK");
}

void rm_client(const struct rm_call *call)
{
	if (rm_is(call->argv[1], "SETNAME") && call->argc == 3)
		set_name(call);
	else
		rm_reply_subcommand(call, "CLIENT");
}
