/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/lua.h"

#include <lauxlib.h>
#include <lualib.h>
#include <sha1.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/redis/lua_memory.h"
#include "sim/redis/lua_reply.h"

/* All servers of the process share the interpreter: the registry has the
 * compiled scripts by name, and the names by text.  Scripts are the same for
 * all, and keep no state. */
static lua_State *interpreter;

/* Of the running script. */
static const struct rm_call *script_call;
static struct rm_run script_run;

/* ---- redis.call ---------------------------------------------------------- */

/* Push { err = "..." }, and raise it if `raise`. */
static int fail(lua_State *lua, const char *text, int raise)
{
	lua_newtable(lua);
	lua_pushstring(lua, text);
	lua_setfield(lua, -2, "err");
	return raise ? lua_error(lua) : 1;
}

/* Read the value at `at` of the stack, as an argument of a command. */
static int read_arg(lua_State *lua, int at, struct rm_text *out)
{
	if (lua_type(lua, at) == LUA_TNUMBER) {
		char text[RM_DOUBLE_SIZE];
		size_t len = rm_print_double(text, lua_tonumber(lua, at));

		/* The stack keeps the text until the call is over. */
		lua_pushlstring(lua, text, len);
		lua_replace(lua, at);
	} else if (lua_type(lua, at) != LUA_TSTRING) {
		return 0;
	}
	out->s = lua_tolstring(lua, at, &out->len);
	return 1;
}

static int call_redis(lua_State *lua, int raise)
{
	struct rm_call call = *script_call;
	struct sim_bytes *out = &call.server->reply;
	/* An error leaves the stack, and no script calls another. */
	static struct rm_text argv[LUAI_MAXCSTACK];
	int n = lua_gettop(lua);
	int is_error;

	if (n == 0)
		return fail(lua,
			    "ERR Please specify at least one argument for this "
			    "redis lib call",
			    raise);
	for (int i = 0; i < n; i++) {
		if (!read_arg(lua, i + 1, &argv[i]))
			return fail(lua,
				    "ERR Lua redis lib command arguments must "
				    "be strings or integers",
				    raise);
	}
	call.argv = argv;
	call.argc = (size_t)n;
	call.out = out;
	sim_bytes_resize(out, 0);
	call.server->script_call(&call, &script_run);
	is_error = *sim_bytes_text(out) == '-';
	rm_lua_push_reply(lua, sim_bytes_text(out));
	return is_error && raise ? lua_error(lua) : 1;
}

static int redis_call(lua_State *lua)
{
	return call_redis(lua, 1);
}

static int redis_pcall(lua_State *lua)
{
	return call_redis(lua, 0);
}

static int redis_sha1hex(lua_State *lua)
{
	struct rm_text text;
	char sha1[RM_SHA1 + 1];

	if (lua_gettop(lua) != 1)
		return luaL_error(lua, "wrong number of arguments");
	text.s = lua_tolstring(lua, 1, &text.len);
	rm_scripts_sha1(text, sha1);
	lua_pushlstring(lua, sha1, RM_SHA1);
	return 1;
}

/* ---- The interpreter ----------------------------------------------------- */

/* Fail for a name without a declaration. */
static int no_global(lua_State *lua)
{
	return luaL_error(lua,
			  "Script attempted to access nonexistent global "
			  "variable '%s'",
			  lua_tostring(lua, 2));
}

static int no_new_global(lua_State *lua)
{
	return luaL_error(lua, "Attempt to modify a readonly table");
}

/* Add the place to an error: the function that raised it, or the caller. */
static int add_place(lua_State *lua)
{
	lua_Debug ar;

	if (!lua_istable(lua, 1)) {
		const char *text = lua_tostring(lua, 1);

		lua_newtable(lua);
		lua_pushfstring(lua, "ERR %s", text ? text : "");
		lua_setfield(lua, -2, "err");
		lua_replace(lua, 1);
	}
	for (int level = 1; lua_getstack(lua, level, &ar); level++) {
		lua_getinfo(lua, "Sl", &ar);
		if (level == 1 && strcmp(ar.what, "C") == 0)
			continue;
		lua_pushstring(lua, ar.source);
		lua_setfield(lua, 1, "source");
		lua_pushinteger(lua, ar.currentline);
		lua_setfield(lua, 1, "line");
		break;
	}
	lua_settop(lua, 1);
	return 1;
}

static void open_library(lua_State *lua, lua_CFunction open, const char *name)
{
	lua_pushcfunction(lua, open);
	lua_pushstring(lua, name);
	lua_call(lua, 1, 0);
}

static void open_redis(lua_State *lua)
{
	lua_newtable(lua);
	lua_pushcfunction(lua, redis_call);
	lua_setfield(lua, -2, "call");
	lua_pushcfunction(lua, redis_pcall);
	lua_setfield(lua, -2, "pcall");
	lua_pushcfunction(lua, redis_sha1hex);
	lua_setfield(lua, -2, "sha1hex");
	lua_setglobal(lua, "redis");
}

static void guard_globals(lua_State *lua)
{
	static const char *const gone[] = { "dofile", "loadfile", "print" };

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		lua_pushnil(lua);
		lua_setglobal(lua, gone[i]);
	}
	lua_newtable(lua);
	lua_pushcfunction(lua, no_global);
	lua_setfield(lua, -2, "__index");
	lua_pushcfunction(lua, no_new_global);
	lua_setfield(lua, -2, "__newindex");
	lua_setmetatable(lua, LUA_GLOBALSINDEX);
}

static void open_interpreter(void)
{
	lua_State *lua = lua_newstate(rm_lua_memory, NULL);

	if (!lua)
		sim_panic("no Lua");
	interpreter = lua;
	open_library(lua, luaopen_base, "");
	open_library(lua, luaopen_table, LUA_TABLIBNAME);
	open_library(lua, luaopen_string, LUA_STRLIBNAME);
	open_library(lua, luaopen_math, LUA_MATHLIBNAME);
	open_redis(lua);
	guard_globals(lua);
}

/* ---- Scripts ------------------------------------------------------------- */

void rm_scripts_sha1(struct rm_text text, char sha1[RM_SHA1 + 1])
{
	SHA1Data((const unsigned char *)text.s, text.len, sha1);
}

/* The name, if the interpreter has the text. */
static int is_compiled(lua_State *lua, struct rm_text text,
		       char sha1[RM_SHA1 + 1])
{
	const char *name;

	lua_pushlstring(lua, text.s, text.len);
	lua_rawget(lua, LUA_REGISTRYINDEX);
	name = lua_tostring(lua, -1);
	if (name)
		memcpy(sha1, name, RM_SHA1 + 1);
	lua_pop(lua, 1);
	return name != NULL;
}

int rm_scripts_compile(struct rm_text text, char sha1[RM_SHA1 + 1],
		       struct sim_bytes *out)
{
	lua_State *lua;

	if (!interpreter)
		open_interpreter();
	lua = interpreter;
	if (is_compiled(lua, text, sha1))
		return 1;
	rm_scripts_sha1(text, sha1);
	if (luaL_loadbuffer(lua, text.s, text.len, "@user_script") != 0) {
		rm_reply_error(out,
			       "ERR Error compiling script (new function): %s",
			       lua_tostring(lua, -1));
		lua_pop(lua, 1);
		return 0;
	}
	lua_setfield(lua, LUA_REGISTRYINDEX, sha1);
	lua_pushlstring(lua, text.s, text.len);
	lua_pushlstring(lua, sha1, RM_SHA1);
	lua_rawset(lua, LUA_REGISTRYINDEX);
	return 1;
}

static void set_list(lua_State *lua, const char *name,
		     const struct rm_text *texts, size_t n)
{
	lua_createtable(lua, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		lua_pushlstring(lua, texts[i].s, texts[i].len);
		lua_rawseti(lua, -2, (int)i + 1);
	}
	lua_pushstring(lua, name);
	lua_insert(lua, -2);
	lua_rawset(lua, LUA_GLOBALSINDEX);
}

/* Reply with the error on the stack. */
static void reply_failure(lua_State *lua, struct rm_text sha1,
			  struct sim_bytes *out)
{
	const char *text, *source, *line;

	lua_getfield(lua, -1, "err");
	lua_getfield(lua, -2, "source");
	lua_getfield(lua, -3, "line");
	text = lua_tostring(lua, -3);
	source = lua_tostring(lua, -2);
	line = lua_tostring(lua, -1);
	if (source && line)
		rm_reply_error(out, "%s script: %.*s, on %s:%s.",
			       text ? text : "", RM_SHA1, sha1.s, source, line);
	else
		rm_reply_error(out, "%s", text ? text : "");
	lua_pop(lua, 3);
}

void rm_scripts_run(struct rm_text sha1, const struct rm_call *call,
		    const struct rm_text *keys, size_t n_keys,
		    const struct rm_text *args, size_t n_args)
{
	lua_State *lua = interpreter;

	script_call = call;
	script_run = (struct rm_run){ 0, call->server->is_full };
	set_list(lua, "KEYS", keys, n_keys);
	set_list(lua, "ARGV", args, n_args);
	lua_pushcfunction(lua, add_place);
	lua_getfield(lua, LUA_REGISTRYINDEX, sha1.s);
	if (lua_pcall(lua, 0, 1, -2) == 0)
		rm_lua_reply(lua, call->out);
	else
		reply_failure(lua, sha1, call->out);
	lua_settop(lua, 0);
	script_call = NULL;
}
