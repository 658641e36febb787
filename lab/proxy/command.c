/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/proxy/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4

/* A command's words; missing words are "". */
struct words {
	char text[256];
	char *word[WORDS];
};

/* The last word is the rest of the line. */
static int split(struct words *w, const char *line)
{
	char *p = w->text;

	if (strlen(line) >= sizeof(w->text))
		return lab_fail("the line is too long");
	snprintf(w->text, sizeof(w->text), "%s", line);
	p[strcspn(p, "\r\n")] = '\0';
	for (int i = 0; i < WORDS; i++) {
		p += strspn(p, " ");
		w->word[i] = p;
		if (i == WORDS - 1)
			break;
		p += strcspn(p, " ");
		if (*p)
			*p++ = '\0';
	}
	return 0;
}

static int parse_ways(const char *word, bool on[2])
{
	on[LAB_UP] = strcmp(word, "up") == 0 || strcmp(word, "both") == 0;
	on[LAB_DOWN] = strcmp(word, "down") == 0 || strcmp(word, "both") == 0;
	if (on[LAB_UP] || on[LAB_DOWN])
		return 0;
	return lab_fail("'%s': say up, down or both", word);
}

static int number(const char *word, int64_t min, int64_t max, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(word, &end, 10);
	if (errno || end == word || *end || *out < min || *out > max)
		return lab_fail("'%s': not a number of at least %lld and at "
				"most %lld",
				word, (long long)min, (long long)max);
	return 0;
}

static int on_off(const char *word, bool *out)
{
	*out = strcmp(word, "on") == 0;
	if (*out || strcmp(word, "off") == 0)
		return 0;
	return lab_fail("'%s': say on or off", word);
}

static int do_swallow(struct lab_proxy *p, const struct words *w)
{
	static const char *const names[] = { "nothing", "close", "reset",
					     "strand" };
	const char *word = *w->word[1] ? w->word[1] : names[0];

	for (int i = 0; i < 4; i++)
		if (strcmp(word, names[i]) == 0) {
			lab_proxy_swallow(p, w->word[2], (enum lab_then)i);
			return 0;
		}
	return lab_fail("'%s': say nothing, close, reset or strand", word);
}

static int do_aim(struct lab_proxy *p, const struct words *w)
{
	struct lab_address to = { .host = w->word[1] };
	int64_t port = 0;

	if (*w->word[1] == '/')
		to.path = w->word[1];
	else if (number(w->word[2], 1, UINT16_MAX, &port) < 0)
		return -1;
	to.port = (int)port;
	return lab_proxy_aim(p, &to);
}

static int do_refuse(struct lab_proxy *p, const struct words *w)
{
	bool on;

	if (on_off(w->word[1], &on) < 0)
		return -1;
	lab_proxy_refuse(p, on);
	return 0;
}

static int do_hold(struct lab_proxy *p, const struct words *w)
{
	lab_proxy_hold(p, w->word[1]);
	return 0;
}

static void deliver(struct lab_proxy *p)
{
	lab_proxy_deliver(p);
}

/* A command's function, by arguments: a direction and a number; a direction and
 * a state; a direction; no argument; or the words themselves.  A command
 * without a function answers only. */
static const struct command {
	const char *name;
	int64_t min, max;
	void (*set)(struct lab_proxy *p, enum lab_way way, int64_t n);
	void (*turn)(struct lab_proxy *p, enum lab_way way, bool on);
	void (*end)(struct lab_proxy *p, enum lab_way way);
	void (*plain)(struct lab_proxy *p);
	int (*other)(struct lab_proxy *p, const struct words *w);
} commands[] = {
	{ "delay", 0, LAB_MOST_MS, .set = lab_proxy_delay },
	{ "drip", 0, LAB_MOST_MS, .set = lab_proxy_drip },
	{ "cut", -1, INT64_MAX, .set = lab_proxy_cut },
	{ "hole", .turn = lab_proxy_hole },
	{ "half-close", .end = lab_proxy_half_close },
	{ "reset", .plain = lab_proxy_reset },
	{ "strand", .plain = lab_proxy_strand },
	{ "deliver", .plain = deliver },
	{ "heal", .plain = lab_proxy_heal },
	{ "refuse", .other = do_refuse },
	{ "swallow", .other = do_swallow },
	{ "hold", .other = do_hold },
	{ "aim", .other = do_aim },
	{ "stats", .min = 0 },
};

static int run_ways(struct lab_proxy *p, const struct command *c,
		    const struct words *w)
{
	bool ways[2];
	int64_t n = 0;
	bool on = false;

	if (parse_ways(w->word[1], ways) < 0 ||
	    (c->set && number(w->word[2], c->min, c->max, &n) < 0) ||
	    (c->turn && on_off(w->word[2], &on) < 0))
		return -1;
	for (int i = 0; i < 2; i++) {
		enum lab_way way = i ? LAB_DOWN : LAB_UP;

		if (ways[i] && c->set)
			c->set(p, way, n);
		else if (ways[i] && c->turn)
			c->turn(p, way, on);
		else if (ways[i])
			c->end(p, way);
	}
	return 0;
}

static int run_command(struct lab_proxy *p, const struct command *c,
		       const struct words *w)
{
	if (c->set || c->turn || c->end)
		return run_ways(p, c, w);
	if (c->other)
		return c->other(p, w);
	if (c->plain)
		c->plain(p);
	return 0;
}

static void print_stats(struct lab_proxy *p, char *out, size_t size)
{
	static const char *const names[] = {
#define X(name, text) text,
		LAB_PROXY_STATS(X)
#undef X
	};
	size_t len = 0;

	for (int i = 0; i < LAB_PROXY_NSTATS && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, " %s=%llu",
					names[i],
					(unsigned long long)lab_proxy_stat(
						p, (enum lab_proxy_stat)i));
}

static int run_line(struct lab_proxy *p, const struct words *w)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, w->word[0]) == 0)
			return run_command(p, &commands[i], w);
	return lab_fail("'%s': no such command", w->word[0]);
}

int lab_proxy_command(struct lab_proxy *p, const char *line, char *reply,
		      size_t size)
{
	char stats[512] = "";
	struct words w = { .text = "" };

	if (split(&w, line) < 0 || run_line(p, &w) < 0) {
		snprintf(reply, size, "error: %s", lab_errmsg());
		return -1;
	}
	if (strcmp(w.word[0], "stats") == 0)
		print_stats(p, stats, sizeof(stats));
	snprintf(reply, size, "ok%s", stats);
	return 0;
}
