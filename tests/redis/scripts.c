/* SPDX-License-Identifier: Apache-2.0 */
/* CMake splices the scripts from parts, and to Lua an undeclared name is a
 * global, nil.  So a script must declare each name that it uses. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "redis_scripts.h"

TestSuite(redis_scripts, .timeout = 60);

enum { NAMES = 128, NAME_SIZE = 32, DEPTH = 32 };

struct names {
	char v[NAMES][NAME_SIZE];
	size_t n;
};

static int has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(names->v[i], name) == 0)
			return 1;
	}
	return 0;
}

static void add_name(struct names *names, const char *name)
{
	if (has_name(names, name))
		return;
	cr_assert_lt(names->n, NAMES);
	snprintf(names->v[names->n++], NAME_SIZE, "%s", name);
}

/* ---- Lua, as far as the scripts use it ----------------------------------- */

/* Read a token: a name, a word of Lua's, "'" for a string, "0" for a number, or
 * a byte.  Return the text behind the token; NULL: the end. */
static const char *next_token(const char *p, char token[NAME_SIZE])
{
	size_t n = 0;

	for (;;) {
		p += strspn(p, " \t\n");
		if (strncmp(p, "--", 2) != 0)
			break;
		p += strcspn(p, "\n");
	}
	if (!*p)
		return NULL;
	if (*p == '\'') {
		strcpy(token, "'");
		for (p++; *p != '\''; p++)
			p += *p == '\\';
		return p + 1;
	}
	if (isalnum((unsigned char)*p) || *p == '_') {
		while (isalnum((unsigned char)p[n]) || p[n] == '_')
			n++;
		cr_assert_lt(n, NAME_SIZE);
		snprintf(token, NAME_SIZE, "%.*s", (int)n, p);
		if (isdigit((unsigned char)*p))
			strcpy(token, "0");
		return p + n;
	}
	n = strncmp(p, "..", 2) == 0 ? 2 : 1;
	snprintf(token, NAME_SIZE, "%.*s", (int)n, p);
	return p + n;
}

static int is_one_of(const char *token, const char *words)
{
	size_t n = strlen(token);

	for (const char *p = n > 0 ? strstr(words, token) : NULL; p;
	     p = strstr(p + 1, token)) {
		if ((p == words || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return 1;
	}
	return 0;
}

static int is_name(const char *token)
{
	return (isalpha((unsigned char)*token) || *token == '_') &&
	       !is_one_of(token, "and break do else elseif end false for "
				 "function if in local nil not or repeat "
				 "return then true until while");
}

/* Does an expression end with this token?  Then a name behind begins a
 * statement. */
static int ends_expression(const char *token)
{
	return is_name(token) ||
	       is_one_of(token, "' 0 ) ] } end true false nil");
}

struct scan {
	struct names scopes[DEPTH];
	size_t depth;
	struct names pending; /* in effect from the next statement on, or from
			       * the next "do" */
	char before[NAME_SIZE];
	enum { USES, LOCALS, PARAMETERS } mode;
	struct names *undeclared;
};

static int is_declared(const struct scan *s, const char *name)
{
	for (size_t i = 0; i <= s->depth; i++) {
		if (has_name(&s->scopes[i], name))
			return 1;
	}
	return is_one_of(name, "redis KEYS ARGV string math ipairs tonumber "
			       "type error");
}

static void declare_pending(struct scan *s)
{
	for (size_t i = 0; i < s->pending.n; i++)
		add_name(&s->scopes[s->depth], s->pending.v[i]);
	s->pending.n = 0;
}

static void open_scope(struct scan *s)
{
	s->depth++;
	cr_assert_lt(s->depth, DEPTH);
	s->scopes[s->depth].n = 0;
}

static void close_scope(struct scan *s)
{
	declare_pending(s);
	cr_assert_gt(s->depth, 0, "one 'end' too many");
	s->depth--;
}

static void scan_name(struct scan *s, const char *name)
{
	if (s->mode == LOCALS) {
		add_name(&s->pending, name);
	} else if (s->mode == PARAMETERS) {
		/* The function's name stands before the parameters. */
		if (strcmp(s->before, "function") == 0) {
			add_name(&s->scopes[s->depth - 1], name);
			return;
		}
		add_name(&s->scopes[s->depth], name);
	} else if (strcmp(s->before, ".") != 0) {
		if (ends_expression(s->before))
			declare_pending(s);
		if (!is_declared(s, name))
			add_name(s->undeclared, name);
	}
}

static void scan_word(struct scan *s, const char *token)
{
	if (is_one_of(token, "local for if while return function")) {
		if (strcmp(token, "function") == 0) {
			open_scope(s);
			s->mode = PARAMETERS;
			return;
		}
		declare_pending(s);
		s->mode = is_one_of(token, "local for") ? LOCALS : USES;
	} else if (is_one_of(token, "do then")) {
		open_scope(s);
		if (strcmp(token, "do") == 0)
			declare_pending(s);
	} else if (is_one_of(token, "end elseif else")) {
		close_scope(s);
		if (strcmp(token, "else") == 0)
			open_scope(s);
	} else if (is_one_of(token, "= in") && s->mode == LOCALS) {
		s->mode = USES;
	} else if (*token == ')' && s->mode == PARAMETERS) {
		s->mode = USES;
	}
}

static void scan_script(const char *text, struct names *undeclared)
{
	static struct scan s;
	char token[NAME_SIZE];

	memset(&s, 0, sizeof(s));
	undeclared->n = 0;
	s.undeclared = undeclared;
	while ((text = next_token(text, token))) {
		/* "local x" without a value ends where the next one begins. */
		if (s.mode == LOCALS && is_name(token) && is_name(s.before))
			s.mode = USES;
		if (is_name(token))
			scan_name(&s, token);
		else
			scan_word(&s, token);
		strcpy(s.before, token);
	}
	declare_pending(&s);
	cr_assert_eq(s.depth, 0, "an 'end' is missing");
}

/* ---- The scripts --------------------------------------------------------- */

static void expect_undeclared(const char *text, const char *names)
{
	struct names undeclared;

	scan_script(text, &undeclared);
	for (size_t i = 0; i < undeclared.n; i++)
		cr_expect(is_one_of(undeclared.v[i], names),
			  "'%s' is not declared in: %.60s ...", undeclared.v[i],
			  text);
	cr_expect(undeclared.n > 0 || !*names, "'%s' was not found in %s",
		  names, text);
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
	static char text[sizeof(attempt_exclusive_text) + 64];

	snprintf(text, sizeof(text), "%s\nreturn hodler",
		 attempt_exclusive_text);
	expect_undeclared(text, "hodler");
	expect_undeclared("if x then return 1 end", "x");
	expect_undeclared("if KEYS then local x = 1 end return x", "x");
	expect_undeclared("local x = x return x", "x");
	expect_undeclared("for i = 1, 2 do redis.call(i) end return i", "i");
	expect_undeclared("local function f(a) return a end return f(a)", "a");
	expect_undeclared("return f(1) local function f() end", "f");
	expect_undeclared("local x x = 1 y = 2", "y");
	expect_undeclared("local x, y = 1, 2 return x.z .. y", "");
}
