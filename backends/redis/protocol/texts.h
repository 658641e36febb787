/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts under scripts/, and their calls as commands.  Pure.
 */
#ifndef DLOCK_REDIS_TEXTS_H
#define DLOCK_REDIS_TEXTS_H

#include "backends/redis/protocol/command.h"

enum redis_script {
	RD_ATTEMPT_EXCLUSIVE,
	RD_ATTEMPT_SHARED,
	RD_ATTEMPT_PLAIN,
	RD_RELEASE,
	RD_RELEASE_PLAIN,
	RD_RENEW,
	RD_RENEW_PLAIN,
	RD_DOWNGRADE,
	RD_BREAK,
	RD_INSPECT,
	RD_DESCRIBE,
	RD_WATCH,
	RD_REVOKE,
	RD_RESIZE,
	RD_SCRIPTS
};

struct redis_script_keys {
	struct redis_arg lock;
	struct redis_arg clock; /* prefix:clock, of scripts that use tokens */
	struct redis_arg plain; /* key=plain: the plain key; else no text */
};

/* Append a call of the script; `with_text`: with the script's text, which the
 * server keeps from then on. */
void dlki_redis_commands_call(struct redis_commands *out,
			      enum redis_script script, int with_text,
			      const struct redis_script_keys *keys,
			      const struct redis_arg *args, size_t n_args);

#endif
