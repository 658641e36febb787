/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies as values of Lua's, and values of Lua's as replies.
 */
#ifndef DLOCK_SIM_REDIS_LUA_REPLY_H
#define DLOCK_SIM_REDIS_LUA_REPLY_H

#include <lua.h>

#include "sim/base/bytes.h"

/* Push the value of a whole reply.  Returns the end of the reply. */
const char *rm_lua_push_reply(lua_State *lua, const char *reply);

/* Append the value on top of the stack as a reply.  The value stays there. */
void rm_lua_reply(lua_State *lua, struct sim_bytes *out);

#endif
