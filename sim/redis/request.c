/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/request.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

enum {
	LINE_MAX_BYTES = 64 * 1024,
	ARGS_MAX = INT_MAX,
	STRING_MAX = 512 * 1024 * 1024
};

struct cursor {
	const char *at, *end;
};

static void add_arg(struct rm_request *r, const char *bytes, size_t len)
{
	if (r->argc == r->room) {
		r->room = 2 * r->room + 16;
		r->argv = sim_grow(r->argv, r->room, sizeof(*r->argv));
	}
	r->argv[r->argc++] = (struct rm_text){ bytes, len };
}

/* Take a line, without the end. */
static enum rm_parsed take_line(struct cursor *c, struct rm_text *line,
				const char *too_long, const char **what)
{
	size_t left = (size_t)(c->end - c->at);
	const char *cr = memchr(c->at, '\r', left);

	if (!cr || cr + 1 >= c->end) {
		*what = too_long;
		return left > LINE_MAX_BYTES ? RM_NONSENSE : RM_PARTIAL;
	}
	*line = (struct rm_text){ c->at, (size_t)(cr - c->at) };
	c->at = cr + 2;
	return RM_COMPLETE;
}

/* Read the number in a line; -1: no number, or not within 0 and `most`. */
static int64_t number_in(struct rm_text line, int64_t most)
{
	int64_t n;

	return rm_integer(line, &n) && n >= 0 && n <= most ? n : -1;
}

/* "$3\r\nabc\r\n" */
static enum rm_parsed take_string(struct cursor *c, struct rm_request *out,
				  const char **what)
{
	static char got[64];
	struct rm_text line;
	enum rm_parsed rc;
	int64_t n;

	if (c->at == c->end)
		return RM_PARTIAL;
	rc = take_line(c, &line, "too big bulk count string", what);
	if (rc != RM_COMPLETE)
		return rc;
	if (line.len == 0 || *line.s != '$') {
		snprintf(got, sizeof(got), "expected '$', got '%c'",
			 line.len ? *line.s : '\r');
		*what = got;
		return RM_NONSENSE;
	}
	n = number_in((struct rm_text){ line.s + 1, line.len - 1 }, STRING_MAX);
	if (n < 0) {
		*what = "invalid bulk length";
		return RM_NONSENSE;
	}
	if (c->end - c->at < n + 2)
		return RM_PARTIAL;
	add_arg(out, c->at, (size_t)n);
	c->at += n + 2;
	return RM_COMPLETE;
}

static enum rm_parsed take_array(struct cursor *c, struct rm_request *out,
				 const char **what)
{
	struct rm_text line = { 0 };
	enum rm_parsed rc = take_line(c, &line, "too big mbulk count string",
				      what);
	struct rm_text number = { line.s + 1, line.len - 1 };
	int64_t n;

	if (rc != RM_COMPLETE)
		return rc;
	if (number.len > 1 && *number.s == '-') {
		number = (struct rm_text){ number.s + 1, number.len - 1 };
		n = number_in(number, INT64_MAX) < 0 ? -1 : 0;
	} else {
		n = number_in(number, ARGS_MAX);
	}
	if (n < 0) {
		*what = "invalid multibulk length";
		return RM_NONSENSE;
	}
	for (; n > 0 && rc == RM_COMPLETE; n--)
		rc = take_string(c, out, what);
	return rc;
}

static enum rm_parsed take_words(struct cursor *c, struct rm_request *out,
				 const char **what)
{
	size_t left = (size_t)(c->end - c->at);
	const char *nl = memchr(c->at, '\n', left);
	const char *end = nl;

	if (!nl) {
		*what = "too big inline request";
		return left > LINE_MAX_BYTES ? RM_NONSENSE : RM_PARTIAL;
	}
	if (end > c->at && end[-1] == '\r')
		end--;
	while (c->at < end) {
		size_t n = 0;

		while (c->at + n < end && c->at[n] != ' ')
			n++;
		if (n > 0)
			add_arg(out, c->at, n);
		c->at += n + (c->at + n < end);
	}
	c->at = nl + 1;
	return RM_COMPLETE;
}

/* Write zeroes behind the arguments: the bytes there are parsed. */
static void end_args(struct rm_request *r)
{
	for (size_t i = 0; i < r->argc; i++)
		((char *)r->argv[i].s)[r->argv[i].len] = '\0';
}

enum rm_parsed rm_request_parse(const struct sim_bytes *in,
				struct rm_request *out, const char **what)
{
	const char *text = sim_bytes_text(in);
	struct cursor c = { text, text + in->len };
	enum rm_parsed rc = RM_PARTIAL;

	out->argc = 0;
	if (in->len > 0)
		rc = *text == '*' ? take_array(&c, out, what) :
				    take_words(&c, out, what);
	out->len = (size_t)(c.at - text);
	if (rc == RM_COMPLETE)
		end_args(out);
	return rc;
}
