/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of scripts, as bytes. */
#include <string.h>

#include "backends/redis/protocol/store.h"

static struct redis_script_keys keys_of(const struct redis_store *s,
					const struct dlk_request *request,
					char key[RD_KEY_SIZE])
{
	struct redis_script_keys keys = {
		.lock = dlki_redis_key(s->prefix, request->key, key),
		.clock = s->clock,
	};

	if (s->plain) {
		keys.plain.text = request->name;
		keys.plain.len = strlen(request->name);
	}
	return keys;
}

void dlki_redis_store_call(struct redis_store *s, struct dlki_op *op,
			   const struct redis_script_call *call)
{
	struct redis_commands out;
	char key[RD_KEY_SIZE];
	struct redis_script_keys keys = keys_of(s, op->request, key);

	dlki_redis_commands_init(&out);
	dlki_redis_commands_call(&out, call->script, !s->knows[call->script],
				 &keys, call->args, call->n_args);
	if (out.failed) {
		dlki_redis_store_no_memory(op);
	} else {
		dlki_send(s->main.link, op->verb, op, out.bytes, out.len);
		s->knows[call->script] = 1;
	}
	dlki_redis_commands_free(&out);
}

void dlki_redis_store_probe(struct dlki_link *l)
{
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";

	dlki_send(l, DLKI_PING, NULL, ping, sizeof(ping) - 1);
}

int dlki_redis_store_may_ask(struct redis_store *s, struct dlki_op *op)
{
	const char *name = op->request->name;
	size_t n = strlen(s->prefix);
	struct dlk_error err;

	if (!s->plain || strncmp(name, s->prefix, n) != 0 || name[n] != ':')
		return 1;
	dlk_fail(&err, DLOCK_EINVAL,
		 "'%s': with key=plain a name is a key of the server, and "
		 "those that begin with '%s:' are dlock's own: use another "
		 "prefix= or another name",
		 name, s->prefix);
	dlki_failed(op, &err, DLKI_RESIDUE_NONE);
	return 0;
}
