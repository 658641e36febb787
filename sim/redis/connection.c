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

void rm_auth(const struct rm_call *call)
{
	const struct sim_bytes *password = &call->server->password;
	struct rm_text given = call->argv[call->argc - 1];

	if (call->argc > 3) {
		rm_reply_syntax(call);
		return;
	}
	if (call->argc == 2 && password->len == 0) {
		rm_reply_error(call->out,
			       "ERR AUTH <password> called without any "
			       "password configured for the default user. Are "
			       "you sure your configuration is correct?");
		return;
	}
	if ((call->argc == 2 || rm_is(call->argv[1], "default")) &&
	    (password->len == 0 ||
	     rm_compare(given, (struct rm_text){ sim_bytes_text(password),
						 password->len }) == 0)) {
		call->conn->is_authenticated = 1;
		rm_reply_status(call->out, "OK");
		return;
	}
	rm_reply_error(call->out, "WRONGPASS invalid username-password pair "
				  "or user is disabled.");
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
	sim_bytes_resize(&call->conn->name, 0);
	sim_bytes_add(&call->conn->name, name.s, name.len);
	rm_reply_status(call->out, "OK");
}

void rm_client(const struct rm_call *call)
{
	const struct sim_bytes *name = &call->conn->name;

	if (rm_is(call->argv[1], "SETNAME") && call->argc == 3)
		set_name(call);
	else if (rm_is(call->argv[1], "GETNAME") && call->argc == 2) {
		if (name->len > 0)
			rm_reply_text(call->out,
				      (struct rm_text){ sim_bytes_text(name),
							name->len });
		else
			rm_reply_nil(call->out);
	} else if (rm_is(call->argv[1], "ID") && call->argc == 2)
		rm_reply_integer(call->out, (int64_t)call->conn->id);
	else
		rm_reply_subcommand(call, "CLIENT");
}

void rm_quit(const struct rm_call *call)
{
	rm_reply_status(call->out, "OK");
	call->conn->is_closing = 1;
}
