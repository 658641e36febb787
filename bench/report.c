/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Filling in ---------------------------------------------------------- */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void bench_extra(struct bench_result *res, double value, const char *fmt, ...)
{
	struct bench_extra *x = &res->extra[res->n_extras++];
	va_list ap;

	if (res->n_extras > COUNT(res->extra))
		abort();
	va_start(ap, fmt);
	vsnprintf(x->name, sizeof(x->name), fmt, ap);
	va_end(ap);
	x->value = value;
}

void bench_text(struct bench_result *res, const char *name, const char *text)
{
	bench_extra(res, BENCH_NONE, "%s", name);
	res->extra[res->n_extras - 1].text = text;
}

/* ---- Targets ------------------------------------------------------------- */

static double figure_of(const struct bench_result *res, const char *name)
{
	if (strcmp(name, "value") == 0)
		return res->value;
	if (strcmp(name, "ratio") == 0)
		return res->ratio;
	if (strcmp(name, "p99") == 0)
		return res->p99;
	for (size_t i = 0; i < res->n_extras; i++)
		if (strcmp(res->extra[i].name, name) == 0)
			return res->extra[i].value;
	abort();
}

/* Return the figure to judge. */
static double judged(const struct bench_result *res,
		     const struct bench_target *t)
{
	double value = figure_of(res, t->figure ? t->figure : t->name);

	if (t->unit > 0)
		value /= t->unit;
	return value;
}

static int is_within(const struct bench_target *t, double value, double bound)
{
	return t->is_least ? value >= bound : value <= bound;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* Return why the target is not judged here, or NULL. */
static const char *excuse(const struct bench_target *t)
{
	if (t->when == BENCH_ALWAYS)
		return NULL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
	return "a build with a sanitizer";
#elif !defined(__OPTIMIZE__)
	return t->when == BENCH_TIME ? "a build without optimisation" : NULL;
#else
	return NULL;
#endif
}

/* ---- Numbers ------------------------------------------------------------- */

#define NUMBER 32

/* Round to `places`; `none` stands for BENCH_NONE. */
static const char *number(char out[NUMBER], double value, int places,
			  const char *none)
{
	double tens = places == 1 ? 10 : places == 2 ? 100 : 1000;

	if (!(value > BENCH_NONE) || value > 1e15)
		return none;
	snprintf(out, NUMBER, "%.15g", nearbyint(value * tens) / tens);
	return out;
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_number(const char *name, double value)
{
	char text[NUMBER];

	printf(",\"%s\":%s", name, number(text, value, 3, "null"));
}

/* Our texts need no escapes. */
static void json(const struct bench_result *res, const struct bench_target *t)
{
	printf("{\"bench\":\"%s\"", run->bench->name);
	json_number("value", res->value);
	printf(",\"unit\":\"%s\"", run->bench->unit);
	json_number("floor", res->floor);
	json_number("ratio", res->ratio);
	json_number("p50", res->p50);
	json_number("p99", res->p99);
	json_number("samples", (double)res->samples);
	json_number("errors", run->errors);
	printf(",\"pinned\":%s", run->cpu >= 0 ? "true" : "false");
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];

		if (x->text)
			printf(",\"%s\":\"%s\"", x->name, x->text);
		else
			json_number(x->name, x->value);
	}
	for (; t->name; t++) {
		char name[64];

		snprintf(name, sizeof(name), "target_%s", t->name);
		json_number(name, t->target);
	}
	puts("}");
}

/* ---- The table ----------------------------------------------------------- */

void bench_emit_head(void)
{
	printf("%-13s %10s %10s %7s %10s %10s %9s  %s\n", "bench", "value",
	       "floor", "ratio", "p50", "p99", "samples", "unit");
	fflush(stdout);
}

static void row(const struct bench_result *res)
{
	char t[5][NUMBER];

	printf("%-13s %10s %10s %7s %10s %10s %9zu  %s\n", run->bench->name,
	       number(t[0], res->value, 1, "-"),
	       number(t[1], res->floor, 1, "-"),
	       number(t[2], res->ratio, 2, "-"), number(t[3], res->p50, 1, "-"),
	       number(t[4], res->p99, 1, "-"), res->samples, run->bench->unit);
	if (run->cpu >= 0)
		printf("    pinned to CPU %d", run->cpu);
	else
		printf("    not pinned");
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];

		printf("%s%s %s", i % 5 == 4 ? ",\n    " : ", ", x->name,
		       x->text ? x->text : number(t[0], x->value, 2, "-"));
	}
	putchar('\n');
}

static void verdict(const struct bench_result *res,
		    const struct bench_target *t)
{
	char a[NUMBER], b[NUMBER], c[NUMBER];
	double value = judged(res, t);
	const char *word = excuse(t);

	if (!word)
		word = is_within(t, value, t->target) ? "reached" : "MISSED";
	printf("    target: %s %s %s: %s (%s", t->name,
	       t->is_least ? ">=" : "<=", number(a, t->target, 2, "-"), word,
	       number(b, value, 2, "-"));
	if (run->check && !excuse(t))
		printf("; fails %s %s", t->is_least ? "below" : "above",
		       number(c, t->guard, 2, "-"));
	puts(")");
}

void bench_emit(const struct bench_result *res, const struct bench_case *c)
{
	static const struct bench_target none = { 0 };
	const struct bench_target *targets = c ? c->target : &none;

	run->emitted++;
	if (run->json)
		json(res, targets);
	else
		row(res);
	for (const struct bench_target *t = targets; t->name; t++) {
		if (!run->json)
			verdict(res, t);
		if (!run->check || excuse(t))
			continue;
		run->judged++;
		if (is_within(t, judged(res, t), t->guard))
			run->passed++;
	}
	fflush(stdout);
}
