/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies as values of Lua's, and values of Lua's as replies.
 */
#ifndef DLOCK_SIM_REDIS_LUA_REPLY_H
#define DLOCK_SIM_REDIS_LUA_REPLY_H

#include <lua.h>

#include "sim/base/bytes.h"

/* Push what a whole reply means.  Returns what is behind the reply. */
const char *rm_lua_push_reply(lua_State *lua, const char *reply);

/* The value on top of the stack as a reply.  It stays there. */
void rm_lua_reply(lua_State *lua, struct sim_bytes *out);

#endif
