/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* Read a byte of a quoted word.  Return the end. */
static const char *unquote(const char *p, struct sim_bytes *out)
{
	char hex[3] = { 0 };
	char c = *p++;

	if (c == '\\') {
		c = *p++;
		if (c == 'x') {
			memcpy(hex, p, 2);
			c = (char)strtol(hex, NULL, 16);
			p += 2;
		} else if (c == 'n') {
			c = '\n';
		} else if (c == 'r') {
			c = '\r';
		}
	}
	sim_bytes_add(out, &c, 1);
	return p;
}

struct words words_split(const char *line)
{
	struct words w = { .n = 0 };
	const char *p = line + strspn(line, " ");

	while (*p) {
		struct sim_bytes *word = &w.v[w.n];
		char end = *p == '"' || *p == '\'' ? *p : ' ';

		if (w.n == WORDS_MAX)
			FAIL("more than %d words: %s", WORDS_MAX, line);
		w.is_raw[w.n++] = end == '\'';
		p += end != ' ';
		while (*p && *p != end)
			p = end == '"' ? unquote(p, word) :
					 (sim_bytes_add(word, p, 1), p + 1);
		if (end != ' ' && *p != end)
			FAIL("a quote is missing: %s", line);
		p += end != ' ';
		p += strspn(p, " ");
	}
	return w;
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		sim_bytes_free(&w->v[i]);
	w->n = 0;
}
