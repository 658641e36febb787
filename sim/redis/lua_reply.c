/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/lua_reply.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/redis/reply.h"

/* { field = text }; an error keeps its code. */
static void push_field(lua_State *lua, const char *field, const char *text,
		       size_t len)
{
	lua_newtable(lua);
	lua_pushlstring(lua, text, len);
	lua_setfield(lua, -2, field);
}

/* Return the number at the start of the line. */
static int64_t number_at(const char *line)
{
	int is_negative = *line == '-';
	int64_t n = 0;

	for (line += is_negative; *line >= '0' && *line <= '9'; line++)
		n = n * 10 + (*line - '0');
	return is_negative ? -n : n;
}

const char *rm_lua_push_reply(lua_State *lua, const char *reply)
{
	const char *line = reply + 1;
	const char *end = strchr(line, '\r');
	size_t len;
	int64_t n;

	if (!end)
		sim_panic("a command replied \"%s\"", reply);
	len = (size_t)(end - line);
	end += 2;
	n = *reply == '+' || *reply == '-' ? 0 : number_at(line);
	switch (*reply) {
	case ':':
		lua_pushnumber(lua, (lua_Number)n);
		return end;
	case '+':
		push_field(lua, "ok", line, len);
		return end;
	case '-':
		push_field(lua, "err", line, len);
		return end;
	case '$':
		if (n < 0) {
			lua_pushboolean(lua, 0);
			return end;
		}
		lua_pushlstring(lua, end, (size_t)n);
		return end + n + 2;
	case '*':
		lua_createtable(lua, (int)n, 0);
		for (int i = 1; i <= n; i++) {
			end = rm_lua_push_reply(lua, end);
			lua_rawseti(lua, -2, i);
		}
		return end;
	default:
		sim_panic("a command replied \"%s\"", reply);
	}
}

/* Whether the table on top has the field as a text, which is pushed then. */
static int has_text(lua_State *lua, const char *field)
{
	lua_pushstring(lua, field);
	lua_rawget(lua, -2);
	if (lua_type(lua, -1) == LUA_TSTRING)
		return 1;
	lua_pop(lua, 1);
	return 0;
}

static void reply_list(lua_State *lua, struct sim_bytes *out)
{
	int n = 0;

	for (;;) {
		int is_end;

		lua_rawgeti(lua, -1, n + 1);
		is_end = lua_isnil(lua, -1);
		lua_pop(lua, 1);
		if (is_end)
			break;
		n++;
	}
	rm_reply_array(out, (size_t)n);
	for (int i = 1; i <= n; i++) {
		lua_rawgeti(lua, -1, i);
		rm_lua_reply(lua, out);
		lua_pop(lua, 1);
	}
}

static void reply_table(lua_State *lua, struct sim_bytes *out)
{
	if (has_text(lua, "err")) {
		rm_reply_error(out, "%s", lua_tostring(lua, -1));
		lua_pop(lua, 1);
	} else if (has_text(lua, "ok")) {
		rm_reply_status(out, lua_tostring(lua, -1));
		lua_pop(lua, 1);
	} else {
		reply_list(lua, out);
	}
}

void rm_lua_reply(lua_State *lua, struct sim_bytes *out)
{
	struct rm_text text;

	if (!lua_checkstack(lua, 4)) {
		rm_reply_error(out, "ERR reached lua stack limit");
		return;
	}
	switch (lua_type(lua, -1)) {
	case LUA_TSTRING:
		text.s = lua_tolstring(lua, -1, &text.len);
		rm_reply_text(out, text);
		break;
	case LUA_TNUMBER:
		rm_reply_integer(out, (int64_t)lua_tonumber(lua, -1));
		break;
	case LUA_TBOOLEAN:
		if (lua_toboolean(lua, -1))
			rm_reply_integer(out, 1);
		else
			rm_reply_nil(out);
		break;
	case LUA_TTABLE:
		reply_table(lua, out);
		break;
	default:
		rm_reply_nil(out);
	}
}
