/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/trial.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE_MS 20

bool lab_trial_stopped(const struct lab_trial *t)
{
	return atomic_load(t->stop);
}

/* ---- Saying -------------------------------------------------------------- */

#define SAY(t, format)                                                         \
	do {                                                                   \
		va_list args_;                                                 \
                                                                               \
		va_start(args_, format);                                       \
		vsnprintf((t)->why, sizeof((t)->why), format, args_);          \
		va_end(args_);                                                 \
	} while (0)

void lab_trial_fail(struct lab_trial *t, const char *format, ...)
{
	if (t->failed)
		return;
	t->failed = true;
	SAY(t, format);
}

void lab_broken(struct lab_trial *t, const char *format, ...)
{
	if (t->failed || t->broken)
		return;
	t->broken = true;
	SAY(t, format);
}

void lab_remark(struct lab_trial *t, const char *format, ...)
{
	if (t->failed || t->broken)
		return;
	SAY(t, format);
}

void lab_wait(struct lab_trial *t, int64_t ms)
{
	int64_t end = lab_after_ms(ms);

	while (!t->failed && !lab_trial_stopped(t) && lab_now() < end)
		lab_nap_ms(ms < SLICE_MS ? ms : SLICE_MS);
}

void lab_fault_begins(struct lab_trial *t, const char *what)
{
	t->fault = what;
	t->fault_from = lab_now();
}

void lab_fault_ends(struct lab_trial *t)
{
	t->fault_to = lab_now();
}

/* ---- Numbers ------------------------------------------------------------- */

int64_t lab_slack_ms(const struct lab_trial *t)
{
	return INT64_C(250) * t->time_scale;
}

int64_t lab_found_bound_ms(const struct lab_trial *t)
{
	return t->ttl_ms / 3 + lab_slack_ms(t);
}

/* Without leases the kernel tells, at once. */
int64_t lab_free_bound_ms(const struct lab_trial *t)
{
	return (t->ttl_ms ? t->ttl_ms * 3 / 2 : 100) + 2 * lab_slack_ms(t) +
	       t->linger_ms;
}

int64_t lab_of(const struct lab_trial *t, int64_t quick, int64_t thorough)
{
	return t->quick ? quick : thorough;
}

static void note_figure(struct lab_trial *t, const struct lab_figure *about,
			double *values, size_t n)
{
	struct lab_figure *g;

	if (t->failed || n == 0)
		return;
	pthread_mutex_lock(t->mutex);
	g = lab_findings_figure(t->findings, t->store, t->row);
	if (g) {
		*g = *about;
		g->store = t->store;
		g->scenario = t->row;
		lab_figure_samples(g, values, n);
	}
	pthread_mutex_unlock(t->mutex);
}

void lab_measured_all(struct lab_trial *t, const char *id, const char *name,
		      const char *unit, double *values, size_t n,
		      double floor_p50, const char *floor)
{
	struct lab_figure about = { .id = id,
				    .name = name,
				    .unit = unit,
				    .floor_p50 = floor_p50,
				    .floor = floor_p50 < 0 ? "" : floor };

	note_figure(t, &about, values, n);
}

void lab_measured(struct lab_trial *t, const char *id, const char *name,
		  const char *unit, bool more_is_better, double value)
{
	struct lab_figure about = { .id = id,
				    .name = name,
				    .unit = unit,
				    .more_is_better = more_is_better,
				    .floor_p50 = -1,
				    .floor = "" };

	note_figure(t, &about, &value, 1);
}

double *lab_samples(struct lab_trial *t, const char *file, size_t *n)
{
	char path[600];
	double *values = NULL;
	struct stat st;
	int fd;

	*n = 0;
	if (t->failed)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", t->dir, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		values = malloc((size_t)st.st_size);
	if (values && read(fd, values, (size_t)st.st_size) == st.st_size)
		*n = (size_t)st.st_size / sizeof(*values);
	if (fd >= 0)
		close(fd);
	if (*n == 0)
		lab_trial_fail(t, "no samples in %s", file);
	return values;
}
