/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is the rest of the line, with \r, \n, \\, \xHH and <250*k>, which
 * is 250 times k; a line end is added.  The lines of a reply are in one line,
 * with data blocks in quotes:
 *
 *   STORED     VALUE k 0 1 "x" END     VA 1 c<+1> "x"
 *
 *   <+1>       the number of the first item stored by the case, and so on, in
 *              requests, too; <-1> is a number from before the case
 *   <n>        a number in a line of "stats"
 */
#include "sim/language.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* ---- Requests ------------------------------------------------------------ */

/* Tell the value of a mark.  Return the mark's length; 0: no mark. */
static int add_meaning(const struct marks *m, struct sim_bytes *out,
		       const char *mark)
{
	int64_t n = 0;
	int used = 0;
	char c;

	if (sscanf(mark, "<%" SCNd64 "*%c>%n", &n, &c, &used) == 2 &&
	    used > 0) {
		for (; n > 0; n--)
			sim_bytes_add(out, &c, 1);
		return used;
	}
	used = 0;
	if (!strchr("+-", mark[1]) ||
	    sscanf(mark, "<%" SCNd64 ">%n", &n, &used) != 1 || used == 0)
		return 0;
	sim_bytes_printf(out, "%" PRIu64, m->cas + (uint64_t)n);
	return used;
}

/* Read a byte, escaped or not.  Return the length. */
static int add_byte(struct sim_bytes *out, const char *p)
{
	char hex[3] = { 0 };
	char c = *p;

	if (c != '\\') {
		sim_bytes_add(out, p, 1);
		return 1;
	}
	c = p[1] == 'r' ? '\r' : p[1] == 'n' ? '\n' : p[1];
	if (c == 'x') {
		memcpy(hex, p + 2, 2);
		c = (char)strtol(hex, NULL, 16);
	}
	sim_bytes_add(out, &c, 1);
	return p[1] == 'x' ? 4 : 2;
}

static void request(const struct marks *m, struct sim_bytes *out,
		    const char *line)
{
	for (line += strspn(line, " "); *line;) {
		int used = *line == '<' ? add_meaning(m, out, line) : 0;

		line += used > 0 ? used : add_byte(out, line);
	}
	sim_bytes_text_add(out, "\r\n");
}

/* ---- Replies ------------------------------------------------------------- */

/* Return the size of the data block behind this line; -1: no block. */
static long data_of(const char *line)
{
	long n = -1;

	if (strncmp(line, "VA ", 3) == 0)
		n = strtol(line + 3, NULL, 10);
	else if (sscanf(line, "VALUE %*s %*s %ld", &n) != 1)
		n = -1;
	return n;
}

static int goes_on(const char *line)
{
	return strncmp(line, "VALUE ", 6) == 0 ||
	       strncmp(line, "STAT ", 5) == 0;
}

static const char *reply_end(const char *from, const char *end)
{
	for (int more = 1; more;) {
		const char *nl = memchr(from, '\n', (size_t)(end - from));
		long n;

		if (!nl)
			return NULL;
		n = data_of(from);
		more = goes_on(from);
		from = nl + 1;
		if (n >= 0) {
			if (end - from < n + 2)
				return NULL;
			from += n + 2;
		}
	}
	return from;
}

static void quote(struct sim_bytes *out, const char *bytes, long len)
{
	sim_bytes_text_add(out, " \"");
	for (long i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '"' || c == '\\')
			sim_bytes_printf(out, "\\%c", c);
		else if (c < ' ' || c > '~')
			sim_bytes_printf(out, "\\x%02x", c);
		else
			sim_bytes_add(out, &bytes[i], 1);
	}
	sim_bytes_text_add(out, "\"");
}

static void line_of(struct sim_bytes *out, const char *reply)
{
	for (int more = 1; more;) {
		size_t len = strcspn(reply, "\r");
		long n = data_of(reply);

		more = goes_on(reply);
		sim_bytes_add(out, reply, len);
		reply += len + 2;
		if (n >= 0) {
			quote(out, reply, n);
			reply += n + 2;
		}
		if (more)
			sim_bytes_text_add(out, " ");
	}
}

/* ---- Marks --------------------------------------------------------------- */

/* The word is the number of an item: "c12", or the fourth behind VALUE.
 * Returns where the digits begin, or NULL. */
static const char *number_in(const char *word, int behind_value)
{
	if (behind_value == 4 && isdigit((unsigned char)*word))
		return word;
	return *word == 'c' && isdigit((unsigned char)word[1]) ? word + 1 :
								 NULL;
}

static void add_word(const struct marks *m, struct sim_bytes *out,
		     const char *word, size_t len, int behind_value)
{
	const char *number = number_in(word, behind_value);
	uint64_t n = number ? strtoull(number, NULL, 10) : 0;

	if (n == 0) {
		sim_bytes_add(out, word, len);
		return;
	}
	sim_bytes_add(out, word, (size_t)(number - word));
	sim_bytes_printf(out, "<%+" PRId64 ">", (int64_t)(n - m->cas));
}

/* "STAT pid 12", and not the version's number. */
static void mark_stats(struct sim_bytes *out, const char *p)
{
	while (*p) {
		size_t digits = strspn(p, "0123456789");
		int is_number = digits > 0 && (p[digits] == ' ' || !p[digits]);

		if (is_number)
			sim_bytes_text_add(out, "<n>");
		else
			sim_bytes_add(out, p, digits += digits == 0);
		p += digits;
	}
}

/* Data blocks are left alone. */
static void mark(struct marks *m, struct sim_bytes *line, int64_t now_us)
{
	struct sim_bytes out = { 0 };
	const char *p = sim_bytes_text(line);
	int behind_value = -1, is_quoted = 0;

	(void)now_us;
	if (strncmp(p, "STAT ", 5) == 0) {
		mark_stats(&out, p);
		p = "";
	}
	while (*p) {
		size_t len = strcspn(p, " ");
		int has_begun = is_quoted;

		if (*p == '"')
			is_quoted = has_begun = 1;
		if (strncmp(p, "VALUE ", 6) == 0 && !has_begun)
			behind_value = 0;
		else if (behind_value >= 0)
			behind_value++;
		if (has_begun)
			sim_bytes_add(&out, p, len);
		else
			add_word(m, &out, p, len, behind_value);
		if (has_begun && len > 0 && p[len - 1] == '"')
			is_quoted = 0;
		p += len;
		if (*p)
			sim_bytes_add(&out, p++, 1);
	}
	sim_bytes_free(line);
	*line = out;
}

/* ---- Between cases ------------------------------------------------------- */

static void cleaned(struct marks *m, const char *reply)
{
	if (strstr(reply, "ERROR"))
		FAIL("cannot clean: %s", reply);
	if (sscanf(reply, "VALUE before 0 0 %" SCNu64, &m->cas) == 1)
		return;
}

static int is_probed(const char *reply)
{
	return strcmp(reply, "MN\r\n") == 0;
}

static int is_gone(const char *reply)
{
	return strcmp(reply, "EN\r\n") == 0;
}

static const char *const clean[] = { "flush_all", "set before 0 0 0\\r\\n",
				     "gets before", "delete before", NULL };

const struct play_language memcached_language = {
	.request = request,
	.reply_end = reply_end,
	.line = line_of,
	.mark = mark,
	.clean = clean,
	.cleaned = cleaned,
	.probe = "mn",
	.is_probed = is_probed,
	.exists = "mg %s",
	.is_gone = is_gone,
};
