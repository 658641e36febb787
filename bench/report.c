/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Outcomes ------------------------------------------------------------ */

static void complain(const struct bench_run *r, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "dlock-bench: %s: %s\n", r->bench->name, text);
}

int bench_fail(struct bench_run *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->errors++ == 0)
		complain(r, fmt, ap);
	va_end(ap);
	return -1;
}

int bench_fail_dlock(struct bench_run *r, int rc, const char *doing)
{
	return bench_fail(r, "%s: %s: %s", doing, dlock_errname(rc),
			  dlock_errmsg());
}

int bench_skip(struct bench_run *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->skipped++ == 0)
		complain(r, fmt, ap);
	va_end(ap);
	return 1;
}

/* ---- Filling in ---------------------------------------------------------- */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct bench_extra *next_extra(struct bench_result *res,
				      const char *name)
{
	static struct bench_extra spill;
	struct bench_extra *x = &spill;

	if (res->n_extras < COUNT(res->extra))
		x = &res->extra[res->n_extras++];
	*x = (struct bench_extra){ .name = name };
	return x;
}

void bench_extra(struct bench_result *res, const char *name, double value)
{
	next_extra(res, name)->value = value;
}

void bench_text(struct bench_result *res, const char *name, const char *text)
{
	next_extra(res, name)->text = text;
}

void bench_limit(struct bench_result *res, struct bench_limit limit)
{
	if (res->n_limits < COUNT(res->limit))
		res->limit[res->n_limits++] = limit;
}

/* ---- Limits -------------------------------------------------------------- */

/* Why it is not judged here, or NULL. */
static const char *excuse(const struct bench_limit *limit)
{
	if (limit->when == BENCH_ALWAYS)
		return NULL;
	return limit->when == BENCH_TIME ? bench_no_time() : bench_sanitizer();
}

static void judge(struct bench_run *r, const struct bench_result *res)
{
	for (size_t i = 0; i < res->n_limits; i++) {
		const struct bench_limit *limit = &res->limit[i];

		if (excuse(limit))
			continue;
		r->judged++;
		r->passed += limit->value <= limit->guard;
	}
}

/* ---- Numbers ------------------------------------------------------------- */

#define NUMBER 48

/* At most three places, no more than there are; "null" for none. */
static const char *number(char out[NUMBER], double value, int places)
{
	size_t n;

	if (!(value > BENCH_NONE) || value > 1e18)
		return "null";
	n = (size_t)snprintf(out, NUMBER, "%.*f", places, value);
	if (strchr(out, '.')) {
		while (out[n - 1] == '0')
			out[--n] = '\0';
		if (out[n - 1] == '.')
			out[--n] = '\0';
	}
	return out;
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_text(const char *name, const char *text)
{
	printf("%s\"%s\":\"", strcmp(name, "bench") == 0 ? "{" : ",", name);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20)
			printf("\\u%04x", c);
		else if (c == '"' || c == '\\')
			printf("\\%c", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void json_number(const char *name, double value)
{
	char text[NUMBER];

	printf(",\"%s\":%s", name, number(text, value, 3));
}

static void json(const struct bench_run *r, const struct bench_result *res)
{
	json_text("bench", r->bench->name);
	json_number("value", res->value);
	json_text("unit", res->unit);
	json_number("floor", res->floor);
	json_number("ratio", res->ratio);
	json_number("p50", res->p50);
	json_number("p99", res->p99);
	json_number("samples", (double)res->samples);
	json_number("errors", (double)r->errors);
	printf(",\"pinned\":%s", r->cpu >= 0 ? "true" : "false");
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];

		if (x->text)
			json_text(x->name, x->text);
		else
			json_number(x->name, x->value);
	}
	for (size_t i = 0; i < res->n_limits; i++) {
		char name[64];

		snprintf(name, sizeof(name), "target_%s", res->limit[i].of);
		json_number(name, res->limit[i].target);
	}
	puts("}");
}

/* ---- The table ----------------------------------------------------------- */

static void head(void)
{
	static int done;

	if (!done++)
		printf("%-13s %10s %10s %7s %10s %10s %9s  %s\n", "bench",
		       "value", "floor", "ratio", "p50", "p99", "samples",
		       "unit");
}

static const char *cell(char out[NUMBER], double value, int places)
{
	return value > BENCH_NONE ? number(out, value, places) : "-";
}

static void row(const struct bench_run *r, const struct bench_result *res)
{
	char t[5][NUMBER];

	head();
	printf("%-13s %10s %10s %7s %10s %10s %9zu  %s\n", r->bench->name,
	       cell(t[0], res->value, 1), cell(t[1], res->floor, 1),
	       cell(t[2], res->ratio, 2), cell(t[3], res->p50, 1),
	       cell(t[4], res->p99, 1), res->samples, res->unit);
	if (r->cpu >= 0)
		printf("    pinned to CPU %d", r->cpu);
	else
		printf("    not pinned");
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];

		printf("%s%s %s", i % 5 == 4 ? ",\n    " : ", ", x->name,
		       x->text ? x->text : cell(t[0], x->value, 2));
	}
	putchar('\n');
}

static void verdicts(const struct bench_run *r, const struct bench_result *res)
{
	char a[NUMBER], b[NUMBER], c[NUMBER];

	for (size_t i = 0; i < res->n_limits; i++) {
		const struct bench_limit *limit = &res->limit[i];
		const char *word = excuse(limit);

		if (!word)
			word = limit->value <= limit->target ? "reached" :
							       "MISSED";
		printf("    target: %s <= %s: %s (%s", limit->of,
		       number(a, limit->target, 2), word,
		       cell(b, limit->value, 2));
		if (r->check && !excuse(limit))
			printf("; fails above %s", number(c, limit->guard, 2));
		puts(")");
	}
}

void bench_emit(struct bench_run *r, const struct bench_result *res)
{
	r->emitted++;
	judge(r, res);
	if (r->json) {
		json(r, res);
	} else {
		row(r, res);
		verdicts(r, res);
	}
	fflush(stdout);
}

void bench_emit_end(const struct bench_run *r, const char *verdict)
{
	if (!r->check)
		return;
	fprintf(r->json ? stderr : stdout, "%s: %s\n", verdict, r->bench->name);
	fflush(stdout);
}
