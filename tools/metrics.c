/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"
#include "print.h"
#include "since.h"

#include <math.h>
#include <stdio.h>

/* An unknown value is no sample. */
#define UNKNOWN NAN

static double holders(const struct metrics_lock *l)
{
	return (double)participants_holders(l->who);
}

static double waiters(const struct metrics_lock *l)
{
	return (double)(l->who->count - participants_holders(l->who));
}

static double permits(const struct metrics_lock *l)
{
	return l->permits ? (double)l->permits : UNKNOWN;
}

static double permits_free(const struct metrics_lock *l)
{
	struct dlock_permits n;

	if (participants_permits(l->who, &n))
		return (double)n.free;
	return permits(l);
}

static double held_seconds(const struct metrics_lock *l)
{
	int64_t since_ms = 0;

	for (size_t i = 0; i < l->who->count; i++) {
		const struct participant *p = &l->who->list[i];

		if (!p->waiting && p->since_ms > 0 &&
		    (since_ms == 0 || p->since_ms < since_ms))
			since_ms = p->since_ms;
	}
	if (since_ms == 0)
		return UNKNOWN;
	return (double)since_age_ms(since_ms) / 1e3;
}

static double lease_seconds(const struct metrics_lock *l)
{
	double least = UNKNOWN;

	for (size_t i = 0; i < l->who->count; i++) {
		const struct participant *p = &l->who->list[i];
		double left = (double)p->remaining_ms / 1e3;

		if (!p->waiting && p->remaining_ms >= 0 && !(left >= least))
			least = left;
	}
	return least;
}

static const struct {
	const char *name, *help;
	double (*value)(const struct metrics_lock *l);
} metrics[] = {
	{ "dlock_lock_holders", "Participants that hold the lock.", holders },
	{ "dlock_lock_waiters", "Participants in its wait queue.", waiters },
	{ "dlock_lock_permits", "Permits of a semaphore.", permits },
	{ "dlock_lock_permits_free", "Permits that nobody holds.",
	  permits_free },
	{ "dlock_lock_held_seconds", "How long its oldest hold has lasted.",
	  held_seconds },
	{ "dlock_lock_lease_seconds",
	  "What is left of the lease that ends first.", lease_seconds },
};

/* In a label's value. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			putchar('\\');
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(*text);
	}
}

int metrics_print(const struct metrics_lock *locks, size_t n)
{
	for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
		printf("# HELP %s %s\n# TYPE %s gauge\n", metrics[m].name,
		       metrics[m].help, metrics[m].name);
		for (size_t i = 0; i < n; i++) {
			double value = metrics[m].value(&locks[i]);

			if (isnan(value))
				continue;
			printf("%s{name=\"", metrics[m].name);
			print_text(locks[i].name);
			printf("\",kind=\"%s\"} %.15g\n", locks[i].kind, value);
		}
	}
	return finish_output(0);
}
