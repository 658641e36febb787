/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts of the model Redis: Lua 5.1 with redis.call() and redis.pcall().
 */
#ifndef DLOCK_SIM_REDIS_LUA_H
#define DLOCK_SIM_REDIS_LUA_H

#include "sim/redis/call.h"

enum { RM_SHA1 = 40 };

/* The scripts that a server knows; `by_script` carries out what they call. */
struct rm_scripts *rm_scripts_new(rm_script_call *by_script);
void rm_scripts_free(struct rm_scripts *scripts);

/* The script's name: 40 hex digits and a zero. */
void rm_scripts_sha1(struct rm_text text, char sha1[RM_SHA1 + 1]);

int rm_scripts_has(const struct rm_scripts *scripts, struct rm_text sha1);

/* 1: it is known from now on; 0: it is no Lua, which the reply says. */
int rm_scripts_load(struct rm_scripts *scripts, struct rm_text text,
		    const char sha1[RM_SHA1 + 1], struct sim_bytes *out);

/* Run a known one.  `keys` and `args` are its KEYS and ARGV. */
void rm_scripts_run(struct rm_scripts *scripts, struct rm_text sha1,
		    const struct rm_call *call, const struct rm_text *keys,
		    size_t n_keys, const struct rm_text *args, size_t n_args);

#endif
