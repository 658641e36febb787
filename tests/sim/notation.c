/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/notation.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_scripts.h"
#include "support/check.h"

static const struct script {
	const char *name, *sha1, *text;
} scripts[] = {
#define SCRIPT(name)                                                           \
	{                                                                      \
#name, name##_sha1, name##_text                                \
	}
	SCRIPT(attempt_exclusive),
	SCRIPT(attempt_shared),
	SCRIPT(attempt_plain),
	SCRIPT(release),
	SCRIPT(release_plain),
	SCRIPT(renew),
	SCRIPT(renew_plain),
	SCRIPT(downgrade),
	SCRIPT(break),
	SCRIPT(inspect),
	SCRIPT(describe),
	SCRIPT(watch),
	SCRIPT(resize),
	SCRIPT(revoke),
#undef SCRIPT
};

enum { SCRIPTS = sizeof(scripts) / sizeof(scripts[0]) };

/* ---- Replies ------------------------------------------------------------- */

static void quote(struct sim_bytes *out, const char *bytes, size_t len)
{
	sim_bytes_text_add(out, "\"");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '"' || c == '\\')
			sim_bytes_printf(out, "\\%c", c);
		else if (c == '\n')
			sim_bytes_text_add(out, "\\n");
		else if (c < ' ' || c > '~')
			sim_bytes_printf(out, "\\x%02x", c);
		else
			sim_bytes_add(out, &bytes[i], 1);
	}
	sim_bytes_text_add(out, "\"");
}

const char *notation(struct sim_bytes *out, const char *reply)
{
	const char *end = strstr(reply, "\r\n");
	long n = strtol(reply + 1, NULL, 10);

	if (!end)
		FAIL("no reply: %s", reply);
	if (*reply == '*' && n >= 0) {
		sim_bytes_text_add(out, "[");
		for (end += 2; n > 0; n--) {
			sim_bytes_text_add(out, " ");
			end = notation(out, end);
		}
		sim_bytes_text_add(out, " ]");
		return end;
	}
	if (*reply == '$' && n < 0) {
		sim_bytes_text_add(out, "nil");
	} else if (*reply == '$') {
		quote(out, end + 2, (size_t)n);
		end += n + 2;
	} else {
		sim_bytes_add(out, reply, (size_t)(end - reply));
	}
	return end + 2;
}

/* ---- Marks --------------------------------------------------------------- */

static int is_near(const char *digits, int n, int64_t now_us)
{
	int64_t value = strtoll(digits, NULL, 10);
	int64_t hours_us = 2 * INT64_C(3600000000);

	for (; n < 16; n++)
		value *= 10;
	return llabs(value - now_us) < hours_us;
}

static void add_time(struct marks *m, struct sim_bytes *out, const char *digits)
{
	int is_late = 1;

	for (int i = 0; i < m->n_times; i++) {
		if (memcmp(m->times[i], digits, 16) == 0) {
			sim_bytes_printf(out, "<t%d>", i + 1);
			return;
		}
		is_late &= memcmp(m->times[i], digits, 16) < 0;
	}
	if (m->n_times == MARK_TIMES)
		FAIL("a case with more than %d times", MARK_TIMES);
	memcpy(m->times[m->n_times++], digits, 16);
	sim_bytes_printf(out, "<t%d%s>", m->n_times, is_late ? "" : "!");
}

static int add_number(struct marks *m, struct sim_bytes *out, const char *run,
		      int n, int64_t now_us)
{
	if (n == 16 && is_near(run, n, now_us)) {
		add_time(m, out, run);
	} else if (n == 13 && is_near(run, n, now_us)) {
		sim_bytes_text_add(out, "<ms>");
	} else if (n == 10 && is_near(run, n, now_us)) {
		sim_bytes_text_add(out, "<s>");
	} else if (n == 11 && is_near(run, n, now_us)) {
		sim_bytes_text_add(out, "<tenth>");
	} else if (n >= 5 && n <= 9) {
		long value = strtol(run, NULL, 10);

		sim_bytes_printf(out, "~%ld",
				 (value + 99998) / 100000 * 100000);
	} else {
		return 0;
	}
	return 1;
}

static int add_hex(struct sim_bytes *out, const char *run, int n)
{
	char same[33];

	memset(same, *run, 32);
	if (n == 32 && memcmp(run, same, 32) == 0) {
		sim_bytes_printf(out, "%%%c", *run);
		return 1;
	}
	if (n != 40)
		return 0;
	for (size_t i = 0; i < SCRIPTS; i++) {
		if (memcmp(run, scripts[i].sha1, 40) == 0) {
			sim_bytes_printf(out, "@%s", scripts[i].name);
			return 1;
		}
	}
	sim_bytes_text_add(out, "<hex>");
	return 1;
}

void notation_mark(struct marks *m, struct sim_bytes *line, int64_t now_us)
{
	struct sim_bytes out = { 0 };
	const char *p = sim_bytes_text(line);

	while (*p) {
		int n = 0;

		while (isalnum((unsigned char)p[n]) || p[n] == '_')
			n++;
		if (n == 0) {
			sim_bytes_add(&out, p++, 1);
			continue;
		}
		/* Digits of an escape are no number. */
		if (!(strspn(p, "0123456789") >= (size_t)n &&
		      add_number(m, &out, p, n, now_us)) &&
		    !(strspn(p, "0123456789abcdef") >= (size_t)n &&
		      add_hex(&out, p, n)))
			sim_bytes_add(&out, p, (size_t)n);
		p += n;
	}
	sim_bytes_free(line);
	*line = out;
}

/* ---- Requests ------------------------------------------------------------ */

static const struct script *script_of(const char *name)
{
	for (size_t i = 0; i < SCRIPTS; i++) {
		if (strcmp(scripts[i].name, name) == 0)
			return &scripts[i];
	}
	FAIL("no script %s", name);
}

/* Tell the value of a mark.  Return the mark's length; 0: no mark. */
static size_t add_meaning(const struct marks *m, struct sim_bytes *out,
			  const char *mark)
{
	int time = 0, used = 0;

	if (*mark == '%' && isxdigit((unsigned char)mark[1])) {
		for (int i = 0; i < 32; i++)
			sim_bytes_add(out, &mark[1], 1);
		return 2;
	}
	if (sscanf(mark, "<t%d>%n", &time, &used) != 1 || used == 0)
		return 0;
	if (time < 1 || time > m->n_times)
		FAIL("no such time yet: %s", mark);
	sim_bytes_add(out, m->times[time - 1], 16);
	return (size_t)used;
}

void notation_word(const struct marks *m, struct sim_bytes *out,
		   const struct sim_bytes *word)
{
	const char *p = sim_bytes_text(word);
	const char *end = p + word->len;

	if (p[0] == '@') {
		int with_text = p[1] == '@';
		const struct script *script = script_of(p + 1 + with_text);

		sim_bytes_text_add(out,
				   with_text ? script->text : script->sha1);
		return;
	}
	while (p < end) {
		size_t used = add_meaning(m, out, p);

		if (used == 0)
			sim_bytes_add(out, p++, 1);
		p += used;
	}
}
