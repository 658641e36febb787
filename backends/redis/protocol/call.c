/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of scripts, as bytes. */
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "redis_protocol_scripts.h"

enum { SHA1_LEN = 40 };

static const struct text {
	const char *sha1;
	const char *text;
	size_t len;
	int grants; /* so it needs prefix:clock, too */
} texts[] = {
#define TEXT(name, grants)                                                     \
	{                                                                      \
		name##_sha1, name##_text, sizeof(name##_text) - 1, grants      \
	}
	[RD_TEXT_EXCLUSIVE] = TEXT(ask_exclusive, 1),
	[RD_TEXT_SHARED] = TEXT(ask_shared, 1),
	[RD_TEXT_RENEW] = TEXT(renew, 0),
	[RD_TEXT_RELEASE] = TEXT(give_up, 1),
#undef TEXT
};

static void encode(const struct redis_store *s, struct redis_commands *out,
		   const struct redis_script_call *call)
{
	const struct text *text = &texts[call->text];
	const char *prefix = dlk_param_text(s->base.uri, "prefix");
	size_t keys = text->grants ? 2 : 1;
	size_t prefix_len = strlen(prefix);
	size_t key_len = strlen(call->key);
	char key[136];

	memcpy(key, prefix, prefix_len);
	memcpy(key + prefix_len, ":{", 2);
	memcpy(key + prefix_len + 2, call->key, key_len);
	key[prefix_len + 2 + key_len] = '}';
	dlki_redis_commands_begin(out, 3 + keys + call->n_args);
	if (s->knows[call->text]) {
		dlki_redis_commands_arg(out, "EVALSHA", 7);
		dlki_redis_commands_arg(out, text->sha1, SHA1_LEN);
	} else {
		dlki_redis_commands_arg(out, "EVAL", 4);
		dlki_redis_commands_arg(out, text->text, text->len);
	}
	dlki_redis_commands_arg(out, text->grants ? "2" : "1", 1);
	dlki_redis_commands_arg(out, key, prefix_len + key_len + 3);
	if (text->grants)
		dlki_redis_commands_arg(out, s->clock, s->clock_len);
	for (size_t i = 0; i < call->n_args; i++)
		dlki_redis_commands_arg(out, call->args[i].text,
					call->args[i].len);
}

void dlki_redis_store_call(struct redis_store *s, struct dlki_op *op,
			   const struct redis_script_call *call)
{
	struct redis_commands out;
	struct dlk_error err;

	dlki_redis_commands_init(&out);
	encode(s, &out, call);
	if (out.failed) {
		dlk_fail(&err, DLOCK_ENOMEM, "out of memory");
		dlki_failed(op, &err, DLKI_RESIDUE_NONE);
	} else {
		dlki_send(s->main.link, op->verb, &op, 1, out.bytes, out.len);
		s->knows[call->text] = 1;
	}
	dlki_redis_commands_free(&out);
}
