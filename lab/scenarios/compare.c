/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/scenarios/compare.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "lab/scenarios/load.h"
#include "lab/scenarios/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define JOBS 4 /* stores at once, in unmeasured scenarios: they mostly wait */

struct comparison {
	const struct lab_compare_options *o;
	struct lab_findings *f;
	struct lab_targets targets;
	const struct lab_scenario **rows;
	size_t n_rows;
	char dir[400];
	struct lab_process
		*supervisor; /* removes the directory; NULL: the directory is
			      * kept */
	int64_t begun;
	struct lab_load load;

	pthread_mutex_t mutex; /* the findings, and the members below */
	size_t next;           /* store, in parallel */
	size_t done;

	pthread_mutex_t telling; /* for one report of progress at a time */
};

/* ---- Which scenarios ----------------------------------------------------- */

static bool begins(const char *id, const char *word, size_t len)
{
	return len > 0 && strncmp(id, word, len) == 0;
}

static bool selected(const struct lab_scenario *b, const char *only)
{
	size_t len;

	for (; only && *only; only += len + (only[len] == ',')) {
		len = strcspn(only, ",");
		if (begins(b->id, only, len))
			return true;
	}
	return false;
}

char *lab_compare_unknown(const char *only)
{
	size_t len;

	if (only && !*only)
		return strdup(only);
	for (; only && *only; only += len + (only[len] == ',')) {
		bool found = false;

		len = strcspn(only, ",");
		for (const struct lab_scenario *b = lab_scenarios; b->id; b++)
			found |= begins(b->id, only, len);
		if (!found)
			return strndup(only, len);
	}
	return NULL;
}

static int choose_scenarios(struct comparison *c)
{
	size_t n = 0;

	while (lab_scenarios[n].id)
		n++;
	c->rows = calloc(n + 1, sizeof(*c->rows));
	if (!c->rows)
		return lab_fail("out of memory");
	for (const struct lab_scenario *b = lab_scenarios; b->id; b++)
		if (!c->o->only || selected(b, c->o->only))
			c->rows[c->n_rows++] = b;
	return 0;
}

/* ---- The run in words ---------------------------------------------------- */

static void cpu_model(char *out, size_t size)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(out, size, "CPU");
	while (in && fgets(line, sizeof(line), in)) {
		const char *at = strchr(line, ':');

		if (!at || strncmp(line, "model name", 10) != 0)
			continue;
		snprintf(out, size, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
		break;
	}
	if (in)
		fclose(in);
}

static void describe(struct comparison *c)
{
	struct lab_run *r = &c->f->run;
	double gb = (double)sysconf(_SC_PHYS_PAGES) *
		    (double)sysconf(_SC_PAGESIZE) / 1e9;
	struct utsname u;
	char cpu[128];

	memset(&u, 0, sizeof(u));
	uname(&u);
	cpu_model(cpu, sizeof(cpu));
	r->began = time(NULL);
	r->version = lab_findings_text(c->f, "%s", dlock_version());
	r->machine = lab_findings_text(c->f, "%ld x %s, %.1f GB, %s %s %s",
				       sysconf(_SC_NPROCESSORS_ONLN), cpu, gb,
				       u.sysname, u.release, u.machine);
	r->options = lab_findings_text(c->f, "%s",
				       c->o->text ? c->o->text : "");
	r->seed = c->o->seed;
	r->quick = c->o->quick;
	r->lab = c->o->lab;
}

static void add_rows(struct comparison *c)
{
	for (size_t i = 0; i < c->targets.n; i++) {
		const struct lab_sut *s = &c->targets.list[i];
		struct lab_store *row = lab_findings_store(c->f);

		if (!row)
			return;
		row->name = lab_findings_text(c->f, "%s", s->name);
		row->uri = lab_findings_text(c->f, "%s", s->shown);
		row->server = lab_findings_text(c->f, "%s", s->server_text);
		row->settings = lab_findings_text(c->f, "%s", s->settings);
		row->trouble = lab_findings_text(c->f, "%s", s->trouble);
		row->caps = s->caps;
		row->ttl_ms = lab_usual_ttl_ms(s, c->o->quick);
		row->foreign = s->foreign;
	}
	for (size_t i = 0; i < c->n_rows; i++) {
		struct lab_about *about = lab_findings_scenario(c->f);

		if (!about)
			return;
		about->id = c->rows[i]->id;
		about->title = c->rows[i]->title;
		about->guarantee = c->rows[i]->guarantee;
		about->fault = c->rows[i]->fault;
	}
	lab_findings_cells(c->f);
}

/* ---- Where --------------------------------------------------------------- */

static int make_run_dir(struct comparison *c)
{
	const char *tmp = getenv("TMPDIR");

	if (c->o->keep) {
		if (mkdir(c->o->keep, 0700) < 0)
			return lab_fail("%s: %s", c->o->keep, strerror(errno));
		if (!realpath(c->o->keep, c->dir) || strlen(c->dir) > 300)
			return lab_fail("%s: the path is too long", c->o->keep);
		return 0;
	}
	snprintf(c->dir, sizeof(c->dir), "%.200s/dlock-compare-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	c->supervisor = lab_process_new(c->dir);
	return c->supervisor ? 0 : -1;
}

/* ---- Trials -------------------------------------------------------------- */

static void report_progress(struct comparison *c, const char *store, size_t row)
{
	struct lab_progress p = { .store = store, .scenario = "" };
	int64_t took;

	if (!c->o->progress)
		return;
	pthread_mutex_lock(&c->telling);
	pthread_mutex_lock(&c->mutex);
	p.done = c->done;
	p.total = c->n_rows * c->targets.n;
	took = (lab_now() - c->begun) / LAB_MS;
	p.left_ms = p.done ? took * (int64_t)(p.total - p.done) /
				     (int64_t)p.done :
			     -1;
	if (row < c->n_rows)
		p.scenario = c->rows[row]->title;
	for (size_t i = 0; row < c->n_rows && i < c->targets.n; i++)
		if (c->targets.list[i].name == store)
			p.outcome = lab_finding(c->f, i, row)->outcome;
	pthread_mutex_unlock(&c->mutex);
	c->o->progress(&p, c->o->arg);
	pthread_mutex_unlock(&c->telling);
}

static void set_up(struct comparison *c, struct lab_trial *t)
{
	memset(t, 0, sizeof(*t));
	t->worker_command = c->o->worker_command;
	t->stop = c->o->stop;
	t->quick = c->o->quick;
	t->busy_percent = LAB_BUSY_PERCENT;
	t->time_scale = 1;
	t->kept = c->o->keep != NULL;
	t->seed = c->o->seed;
	t->findings = c->f;
	t->mutex = &c->mutex;
}

static void try_one(struct comparison *c, size_t store, size_t row)
{
	struct lab_trial *t = malloc(sizeof(*t));

	if (!t)
		return;
	set_up(c, t);
	t->sut = &c->targets.list[store];
	t->scenario = c->rows[row];
	t->store = store;
	t->row = row;
	snprintf(t->dir, sizeof(t->dir), "%s/%s.%s", c->dir, t->sut->name,
		 t->scenario->id);
	lab_trial_run(t);
	free(t);
	pthread_mutex_lock(&c->mutex);
	c->done++;
	pthread_mutex_unlock(&c->mutex);
	report_progress(c, c->targets.list[store].name, row);
}

static void *column(void *comparison)
{
	struct comparison *c = comparison;
	size_t store;

	for (;;) {
		pthread_mutex_lock(&c->mutex);
		store = c->next++;
		pthread_mutex_unlock(&c->mutex);
		if (store >= c->targets.n)
			return NULL;
		for (size_t row = 0; row < c->n_rows; row++)
			if (!c->rows[row]->measured)
				try_one(c, store, row);
	}
}

/* Run the measured scenarios first and alone; then the rest, stores side by
 * side. */
static void try_all(struct comparison *c)
{
	pthread_t threads[JOBS];
	size_t n = 0;

	for (size_t row = 0; row < c->n_rows; row++)
		for (size_t s = 0; s < c->targets.n; s++)
			if (c->rows[row]->measured)
				try_one(c, s, row);
	while (n < JOBS && n + 1 < c->targets.n &&
	       pthread_create(&threads[n], NULL, column, c) == 0)
		n++;
	column(c);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

static void get_ready(struct comparison *c)
{
	for (size_t i = 0; i < c->targets.n; i++) {
		struct lab_trial *t = malloc(sizeof(*t));

		if (!t)
			return;
		set_up(c, t);
		snprintf(t->dir, sizeof(t->dir), "%s/%s", c->dir,
			 c->targets.list[i].name);
		report_progress(c, c->targets.list[i].name, c->n_rows);
		if (mkdir(t->dir, 0700) == 0 && !atomic_load(c->o->stop))
			lab_target_open(&c->targets, i, t);
		free(t);
	}
}

static int run_comparison(struct comparison *c)
{
	if (choose_scenarios(c) < 0 || make_run_dir(c) < 0 ||
	    lab_targets_list(&c->targets, c->o, c->dir) < 0)
		return -1;
	describe(c);
	lab_server_stop_waiting(c->o->stop);
	get_ready(c);
	add_rows(c);
	if (lab_findings_ok(c->f))
		try_all(c);
	for (size_t i = 0; i < c->targets.n; i++)
		lab_sut_stop(&c->targets.list[i]);
	lab_server_stop_waiting(NULL);
	c->f->run.busy_percent = lab_load_percent(&c->load);
	c->f->run.took_ms = (lab_now() - c->begun) / LAB_MS;
	c->f->run.interrupted = atomic_load(c->o->stop);
	return lab_findings_ok(c->f) ? 0 : lab_fail("out of memory");
}

int lab_compare(const struct lab_compare_options *options,
		struct lab_findings **out)
{
	struct comparison *c = calloc(1, sizeof(*c));
	int rc = -1;

	if (!c)
		return lab_fail("out of memory");
	c->o = options;
	c->begun = lab_now();
	c->load = lab_load_begin();
	c->f = lab_findings_new();
	pthread_mutex_init(&c->mutex, NULL);
	pthread_mutex_init(&c->telling, NULL);
	if (c->f)
		rc = run_comparison(c);
	lab_process_free(c->supervisor);
	pthread_mutex_destroy(&c->telling);
	pthread_mutex_destroy(&c->mutex);
	if (rc == 0)
		*out = c->f;
	else
		lab_findings_free(c->f);
	free(c->rows);
	free(c);
	return rc;
}
