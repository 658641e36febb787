/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/texts.h"

#include "redis_scripts.h"

/* Two arguments, as sent. */
#define EVALSHA(sha1) "$7\r\nEVALSHA\r\n$40\r\n" sha1 "\r\n"
enum { EVALSHA_LEN = sizeof(EVALSHA("")) - 1 + 40 };

static const struct text {
	const char *evalsha;
	const char *text;
	size_t len;
	int has_clock; /* calls name prefix:clock, too */
} texts[] = {
#define TEXT(name, has_clock)                                                  \
	{                                                                      \
		EVALSHA(name##_sha1), name##_text, sizeof(name##_text) - 1,    \
			has_clock                                              \
	}
	[RD_ATTEMPT_EXCLUSIVE] = TEXT(attempt_exclusive, 1),
	[RD_ATTEMPT_SHARED] = TEXT(attempt_shared, 1),
	[RD_ATTEMPT_PLAIN] = TEXT(attempt_plain, 1),
	[RD_RELEASE] = TEXT(release, 1),
	[RD_RELEASE_PLAIN] = TEXT(release_plain, 1),
	[RD_RENEW] = TEXT(renew, 0),
	[RD_RENEW_PLAIN] = TEXT(renew_plain, 0),
	[RD_DOWNGRADE] = TEXT(downgrade, 1),
	[RD_BREAK] = TEXT(break, 1),
	[RD_INSPECT] = TEXT(inspect, 0),
	[RD_DESCRIBE] = TEXT(describe, 0),
	[RD_WATCH] = TEXT(watch, 1),
	[RD_REVOKE] = TEXT(revoke, 1),
	[RD_RESIZE] = TEXT(resize, 1),
#undef TEXT
};

void dlki_redis_commands_call(struct redis_commands *out,
			      enum redis_script script, int with_text,
			      const struct redis_script_keys *keys,
			      const struct redis_arg *args, size_t n_args)
{
	const struct text *text = &texts[script];
	size_t n = (text->has_clock ? 2u : 1u) + (keys->plain.text ? 1u : 0u);
	char n_keys = (char)('0' + n);

	dlki_redis_commands_begin(out, 3 + n + n_args);
	if (with_text) {
		dlki_redis_commands_arg(out, "EVAL", 4);
		dlki_redis_commands_arg(out, text->text, text->len);
	} else {
		dlki_redis_commands_put(out, text->evalsha, EVALSHA_LEN);
	}
	dlki_redis_commands_arg(out, &n_keys, 1);
	dlki_redis_commands_arg(out, keys->lock.text, keys->lock.len);
	if (text->has_clock)
		dlki_redis_commands_arg(out, keys->clock.text, keys->clock.len);
	if (keys->plain.text)
		dlki_redis_commands_arg(out, keys->plain.text, keys->plain.len);
	for (size_t i = 0; i < n_args; i++)
		dlki_redis_commands_arg(out, args[i].text, args[i].len);
}
