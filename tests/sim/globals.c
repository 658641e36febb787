/* SPDX-License-Identifier: Apache-2.0 */
/* CMake splices the scripts from parts, and to Lua an undeclared name is a
 * global, nil.  A compiled script shows which globals it uses. */
#include <criterion/criterion.h>
#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "redis_scripts.h"

TestSuite(redis_scripts, .timeout = 60);

/* A chunk, as ldump.c of Lua 5.1 writes; instructions as in lopcodes.h. */
enum { HEADER = 12, GETGLOBAL = 5, SETGLOBAL = 7, CONSTANTS = 1024 };

static struct {
	char bytes[1 << 18];
	size_t len, at;
} chunk;

static char undeclared[200]; /* "a b " */

static int take_in(lua_State *lua, const void *bytes, size_t n, void *arg)
{
	(void)lua;
	(void)arg;
	cr_assert_leq(n, sizeof(chunk.bytes) - chunk.len);
	memcpy(chunk.bytes + chunk.len, bytes, n);
	chunk.len += n;
	return 0;
}

static const char *take(size_t n)
{
	chunk.at += n;
	cr_assert_leq(chunk.at, chunk.len);
	return chunk.bytes + chunk.at - n;
}

static size_t take_count(void)
{
	int n;

	memcpy(&n, take(sizeof(n)), sizeof(n));
	return (size_t)n;
}

static const char *take_string(void)
{
	size_t n;

	memcpy(&n, take(sizeof(n)), sizeof(n));
	return take(n);
}

static const char *take_constant(void)
{
	switch (*take(1)) {
	case LUA_TBOOLEAN:
		take(1);
		break;
	case LUA_TNUMBER:
		take(sizeof(lua_Number));
		break;
	case LUA_TSTRING:
		return take_string();
	default:
		break;
	}
	return "";
}

static void note_global(const char *name)
{
	static const char known[] = " redis KEYS ARGV string math ipairs "
				    "tonumber type error ";
	size_t n = strlen(undeclared);
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	if (!strstr(known, word) && !strstr(undeclared, word + 1))
		snprintf(undeclared + n, sizeof(undeclared) - n, "%s",
			 word + 1);
}

static void note_globals(const char *code, size_t n)
{
	static const char *constants[CONSTANTS];
	size_t most = take_count();
	uint32_t one;

	cr_assert_leq(most, CONSTANTS);
	for (size_t i = 0; i < most; i++)
		constants[i] = take_constant();
	for (size_t i = 0; i < n; i++) {
		memcpy(&one, code + i * sizeof(one), sizeof(one));
		if (one % 64 == GETGLOBAL || one % 64 == SETGLOBAL)
			note_global(constants[one >> 14]);
	}
}

static void take_function(void)
{
	const char *code;
	size_t n;

	take_string();
	take(2 * sizeof(int) + 4);
	n = take_count();
	code = take(n * sizeof(uint32_t));
	note_globals(code, n);
	for (n = take_count(); n > 0; n--)
		take_function();
	n = take_count();
	take(n * sizeof(int));
	for (n = take_count(); n > 0; n--) {
		take_string();
		take(2 * sizeof(int));
	}
	for (n = take_count(); n > 0; n--)
		take_string();
}

static void expect_undeclared(const char *text, const char *names)
{
	lua_State *lua = luaL_newstate();

	cr_assert_eq(luaL_loadstring(lua, text), 0, "%s",
		     lua_tostring(lua, -1));
	undeclared[0] = '\0';
	chunk.len = chunk.at = 0;
	cr_assert_eq(lua_dump(lua, take_in, NULL), 0);
	take(HEADER);
	take_function();
	cr_assert_eq(chunk.at, chunk.len);
	cr_expect_str_eq(undeclared, names, "'%s' not declared in: %.60s ...",
			 undeclared, text);
	lua_close(lua);
}

Test(redis_scripts, declare_every_name_that_they_use)
{
	expect_undeclared(attempt_exclusive_text, "");
	expect_undeclared(attempt_shared_text, "");
	expect_undeclared(attempt_plain_text, "");
	expect_undeclared(release_plain_text, "");
	expect_undeclared(renew_plain_text, "");
	expect_undeclared(release_text, "");
	expect_undeclared(renew_text, "");
	expect_undeclared(downgrade_text, "");
	expect_undeclared(break_text, "");
	expect_undeclared(inspect_text, "");
	expect_undeclared(describe_text, "");
	expect_undeclared(watch_text, "");
	expect_undeclared(resize_text, "");
	expect_undeclared(revoke_text, "");
}

Test(redis_scripts, that_use_an_undeclared_name_are_found)
{
	expect_undeclared("if x then return 1 end", "x ");
	expect_undeclared("if KEYS then local x = 1 end return x", "x ");
	expect_undeclared("local function f(a) return a end return f(a)", "a ");
	expect_undeclared("local x x = 1 y = 2", "y ");
	expect_undeclared("return function() return x, y, x end", "x y ");
}
