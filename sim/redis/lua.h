/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts of the model Redis: Lua 5.1 with redis.call() and redis.pcall().
 */
#ifndef DLOCK_SIM_REDIS_LUA_H
#define DLOCK_SIM_REDIS_LUA_H

#include "sim/redis/call.h"

enum { RM_SHA1 = 40 };

/* The script's name: 40 hex digits and a zero. */
void rm_scripts_sha1(struct rm_text text, char sha1[RM_SHA1 + 1]);

/* Compile a script.  1: it can run from now on, by the name; 0: the text is no
 * Lua, as the reply says. */
int rm_scripts_compile(struct rm_text text, char sha1[RM_SHA1 + 1],
		       struct sim_bytes *out);

/* Run a compiled script.  `keys` and `args` are KEYS and ARGV. */
void rm_scripts_run(struct rm_text sha1, const struct rm_call *call,
		    const struct rm_text *keys, size_t n_keys,
		    const struct rm_text *args, size_t n_args);

#endif
