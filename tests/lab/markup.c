/* SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include "lab/base/fail.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEP 32
#define NAME 32

static char said[300];

static const char *wrong(const char *what, const char *at)
{
	snprintf(said, sizeof(said), "%.200s at \"%.60s\"", what, at);
	return said;
}

/* Return the end of the reference at `at`, or NULL. */
static const char *reference(const char *at)
{
	static const char *const known[] = { "&lt;", "&gt;", "&amp;", "&quot;",
					     "&#39;" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(at, known[i], strlen(known[i])) == 0)
			return at + strlen(known[i]);
	return NULL;
}

/* Skip to a character of `ends`; NULL: a character must be escaped. */
static const char *characters(const char *at, const char *ends)
{
	while (at && *at && !strchr(ends, *at)) {
		unsigned char c = (unsigned char)*at;

		if (c == '>' || c == '<' || (c < ' ' && c != '\n'))
			return NULL;
		at = c == '&' ? reference(at) : at + 1;
	}
	return at;
}

/* Skip an attribute with the blank before; NULL: no attribute. */
static const char *attribute(const char *at)
{
	at += strspn(at, " \n");
	if (!isalpha((unsigned char)*at))
		return NULL;
	while (isalnum((unsigned char)*at) || *at == '-')
		at++;
	if (at[0] != '=' || at[1] != '"')
		return NULL;
	at = characters(at + 2, "\"");
	return at && *at == '"' ? at + 1 : NULL;
}

struct reader {
	const char *at;
	char open[DEEP][NAME];
	size_t depth;
};

static const char *closing(struct reader *r)
{
	const char *tag = r->at;
	size_t n;

	if (r->depth == 0)
		return wrong("nothing to close", tag);
	n = strlen(r->open[--r->depth]);
	if (strncmp(tag + 2, r->open[r->depth], n) != 0 || tag[2 + n] != '>')
		return wrong(r->open[r->depth], tag);
	r->at = tag + n + 3;
	return NULL;
}

static const char *opening(struct reader *r)
{
	const char *tag = r->at;
	const char *at = tag + 1;
	size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (n == 0 || n >= NAME || r->depth == DEEP)
		return wrong("no tag", tag);
	memcpy(r->open[r->depth], at, n);
	r->open[r->depth][n] = '\0';
	for (at += n; *at == ' ' || *at == '\n';) {
		at = attribute(at);
		if (!at)
			return wrong("no attribute", tag);
	}
	if (at[0] == '/' && at[1] == '>') {
		r->at = at + 2;
		return NULL;
	}
	if (*at != '>')
		return wrong("a tag without end", tag);
	r->at = at + 1;
	if (strcmp(r->open[r->depth++], "style") == 0) {
		r->at = strstr(r->at, "</style>");
		return r->at ? NULL : wrong("endless style", tag);
	}
	return NULL;
}

const char *markup_fault(const char *page)
{
	static const char begin[] = "<!DOCTYPE html>\n";
	struct reader r = { .depth = 0 };

	if (strncmp(page, begin, strlen(begin)) != 0)
		return wrong("not a page", page);
	r.at = page + strlen(begin);
	while (*r.at) {
		const char *text = r.at;
		const char *fault = NULL;

		if (*r.at == '<')
			fault = r.at[1] == '/' ? closing(&r) : opening(&r);
		else
			r.at = characters(text, "<");
		if (fault)
			return fault;
		if (!r.at)
			return wrong("a character to be escaped", text);
	}
	return r.depth ? wrong("not closed", r.open[r.depth - 1]) : NULL;
}

size_t markup_count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

static bool stands_once(const char *page, const char *id, size_t n)
{
	char attr[80];

	snprintf(attr, sizeof(attr), " id=\"%.*s\"", (int)n, id);
	return markup_count(page, attr) == 1;
}

const char *markup_stray(const char *page)
{
	static const char *const marks[] = { " href=\"#", " id=\"" };

	for (size_t i = 0; i < 2; i++) {
		const char *at = page;

		while ((at = strstr(at, marks[i])) != NULL) {
			at += strlen(marks[i]);
			if (!stands_once(page, at, strcspn(at, "\"")))
				return wrong("stray", at);
		}
	}
	return NULL;
}

const char *markup_outside(const char *page, double wide)
{
	static const char *const marks[] = { " x=\"", " x1=\"", " x2=\"",
					     "translate(" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = page;

		while ((at = strstr(at, marks[i])) != NULL) {
			double x = strtod(at + strlen(marks[i]), NULL);

			if (!(x >= 0 && x <= wide))
				return wrong("outside", at);
			at++;
		}
	}
	return NULL;
}

char *markup_of(int (*write)(FILE *out, const struct lab_findings *f),
		const struct lab_findings *findings)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	cr_assert(out);
	cr_assert_eq(write(out, findings), 0, "%s", lab_errmsg());
	cr_assert_eq(fclose(out), 0);
	return text;
}
