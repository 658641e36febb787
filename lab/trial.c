/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/trial.h"
#include "lab/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE_MS 20
#define ASK_MS 40           /* the library's own */
#define LONG_LEASE_MS 12000 /* a server has restarted by then */

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
	(void)t;
	return 250;
}

int64_t lab_found_bound_ms(const struct lab_trial *t)
{
	return t->ttl_ms / 3 + lab_slack_ms(t);
}

/* Where nothing expires it is the kernel that tells, at once. */
int64_t lab_free_bound_ms(const struct lab_trial *t)
{
	const struct lab_subject_kind *kind = t->subject->kind;

	return (t->ttl_ms ? t->ttl_ms * 3 / 2 : 100) + 2 * lab_slack_ms(t) +
	       (kind ? kind->rounding_ms : 0);
}

int64_t lab_of(const struct lab_trial *t, int64_t quick, int64_t thorough)
{
	return t->quick ? quick : thorough;
}

void lab_measured_all(struct lab_trial *t, const char *id, const char *name,
		      const char *unit, double *values, size_t n,
		      double floor_p50, const char *floor)
{
	struct lab_figure *g;

	if (t->failed || n == 0)
		return;
	pthread_mutex_lock(t->mutex);
	g = lab_findings_figure(t->findings, t->store, t->row);
	if (g) {
		g->id = id;
		g->name = name;
		g->unit = unit;
		g->floor_p50 = floor_p50;
		g->floor = floor_p50 < 0 ? "" : floor;
		lab_figure_samples(g, values, n);
	}
	pthread_mutex_unlock(t->mutex);
}

void lab_measured(struct lab_trial *t, const char *id, const char *name,
		  const char *unit, bool more_is_better, double value)
{
	lab_measured_all(t, id, name, unit, &value, 1, -1, "");
	if (t->failed || !more_is_better)
		return;
	pthread_mutex_lock(t->mutex);
	t->findings->figures[t->findings->n_figures - 1].more_is_better = true;
	pthread_mutex_unlock(t->mutex);
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

/* ---- What is missing ----------------------------------------------------- */

static const char *lacking(const struct lab_trial *t)
{
	const struct lab_subject *s = t->subject;
	int needs = t->behaviour->needs;

	if (*s->trouble)
		return s->trouble;
	if (s->foreign && needs & LAB_NEEDS_LIBRARY)
		return "the line protocol cannot ask for it";
	if (needs & LAB_NEEDS_PROCESSES && s->local)
		return "the store is one process's alone";
	if (needs & (LAB_NEEDS_SERVER | LAB_NEEDS_PROXY | LAB_NEEDS_DEPTH) &&
	    !s->n_nodes)
		return strncmp(s->uri, "mem:", 4) == 0 ||
				       strncmp(s->uri, "file:", 5) == 0 ?
			       "there is no server" :
			       "only with --lab: the server is not ours";
	if (needs & LAB_NEEDS_FLUSH && !s->kind->flush)
		return "this server has no command that forgets everything";
	if (needs & LAB_NEEDS_FILL && !s->kind->fill)
		return "this server has no bound on its memory";
	if (needs & LAB_NEEDS_WALL && !s->wall)
		return "the clock of this server cannot be stepped";
	if (needs & LAB_NEEDS_DEPTH && !s->kind->left)
		return "nobody can look into this server";
	if (needs & LAB_NEEDS_LEASE && !s->ttl_ms && !s->foreign)
		return "holds do not expire";
	return NULL;
}

/* A store that does not declare it must refuse who requires it. */
static void ask_for_refusal(struct lab_trial *t, uint32_t missing)
{
	struct lab_party *p = lab_join_requiring(t, "A", LAB_JOIN_MAY_FAIL,
						 missing);
	const struct lab_reply *hello = p ? lab_party_hello(p) : NULL;
	char names[128] = "";

	for (uint32_t bit = 1; bit; bit <<= 1)
		if (missing & bit && dlock_cap_name(bit))
			snprintf(names + strlen(names),
				 sizeof(names) - strlen(names), "%s%s",
				 *names ? ", " : "", dlock_cap_name(bit));
	if (hello && hello->rc == DLOCK_ENOTSUP) {
		t->refused = true;
		lab_remark(t,
			   "does not declare %s, and refuses who requires it",
			   names);
	} else if (hello) {
		lab_broken(t, "does not declare %s, and did not refuse it",
			   names);
	}
	lab_leave(p);
}

/* ---- The judgement ------------------------------------------------------- */

/* May a store like this lose what it acknowledged? */
static bool may_lose(const struct lab_trial *t)
{
	const uint32_t lasting = DLOCK_CAP_DURABLE | DLOCK_CAP_CONSISTENT;

	return t->behaviour->may_lose && (t->subject->caps & lasting) == 0;
}

static const char *rule_words(const struct lab_verdict *v)
{
	static const char *const words[LAB_NRULES] = {
		[LAB_RULE_SHAPE] = "answers without questions",
		[LAB_RULE_OVERLAP] = "two held it at once",
		[LAB_RULE_TOKEN] = "a token did not rise",
		[LAB_RULE_LINEAR] = "no order of events explains the answers",
		[LAB_RULE_WRITER] = "an old holder's write was accepted",
		[LAB_RULE_BUSY] = "busy without a holder",
		[LAB_RULE_LOST] = "a loss was not told in time, or wrongly",
		[LAB_RULE_LEFT] = "something was left behind",
	};

	/* Of several, what is worst: two at once. */
	if (v->broken[LAB_RULE_OVERLAP])
		return words[LAB_RULE_OVERLAP];
	for (int i = 0; i < LAB_NRULES; i++)
		if (v->broken[i])
			return words[i];
	return "";
}

/* What the history shows counts more than what the behaviour noticed. */
static void judge_history(struct lab_trial *t)
{
	struct lab_record *records = NULL;
	struct lab_verdict *v = calloc(1, sizeof(*v));
	size_t n = 0;

	if (!v || lab_history_load(t->dir, &records, &n) < 0 ||
	    lab_check_records(records, n, &t->check, v) < 0) {
		lab_trial_fail(t, "the history cannot be read: %s",
			       lab_errmsg());
	} else {
		lab_timeline_draw(t, records, n);
		if (v->violations)
			t->broken = false;
		if (v->broken[LAB_RULE_OVERLAP] && t->overlap_ms > 0)
			lab_broken(t, "%s, for %.1f ms", rule_words(v),
				   t->overlap_ms);
		else if (v->violations)
			lab_broken(t, "%s: %.330s", rule_words(v),
				   v->nwords ? v->words[0] : "");
		if (v->wiped) {
			t->lost_declared = true;
			t->found_ms = v->found_ns / LAB_MS;
		}
	}
	free(records);
	free(v);
}

static enum lab_outcome outcome(const struct lab_trial *t)
{
	if (t->failed)
		return LAB_OUTCOME_NOT_RUN;
	if (t->broken && t->subject->foreign)
		return LAB_OUTCOME_BROKEN;
	if (t->broken)
		return LAB_OUTCOME_LIE;
	if (t->refused)
		return LAB_OUTCOME_REFUSED;
	if (t->lost_declared)
		return may_lose(t) ? LAB_OUTCOME_LOSS : LAB_OUTCOME_LIE;
	return LAB_OUTCOME_KEPT;
}

static void note_down(struct lab_trial *t, int64_t begun)
{
	struct lab_finding *cell;

	if (t->lost_declared && !t->broken && !t->failed && !*t->why)
		snprintf(t->why, sizeof(t->why),
			 "the store lost what it held; the holder was told "
			 "after %" PRId64 " ms",
			 t->found_ms);
	pthread_mutex_lock(t->mutex);
	cell = lab_findings_cell(t->findings, t->store, t->row);
	cell->outcome = outcome(t);
	cell->why = lab_findings_text(t->findings, "%s", t->why);
	cell->found_ms = t->failed ? -1 : t->found_ms;
	cell->took_ms = (lab_now() - begun) / LAB_MS;
	cell->log = lab_findings_text(t->findings, "%s", t->dir);
	pthread_mutex_unlock(t->mutex);
}

/* ---- Running ------------------------------------------------------------- */

/* So that the same seed asks for the same, whatever runs beside. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void add_params(char *uri, size_t size, const char *params)
{
	size_t used = strlen(uri);

	if (used)
		snprintf(uri + used, size - used, "%c%s",
			 strchr(uri, '?') ? '&' : '?', params);
}

int64_t lab_usual_ttl_ms(const struct lab_subject *s, bool quick)
{
	if (!s->ttl_ms || strstr(s->uri, "ttl="))
		return s->ttl_ms;
	return (quick ? INT64_C(1000) : INT64_C(2000)) *
	       (s->kind && s->kind->lease_times ? s->kind->lease_times : 1);
}

/* What a URI says already stays. */
static void settle_params(struct lab_trial *t)
{
	const struct lab_subject *s = t->subject;
	char params[128] = "";
	int n = 0;

	if (!strstr(s->uri, "prefix="))
		n = snprintf(params, sizeof(params),
			     "prefix=dlock-compare-%.8" PRIx64 "&",
			     t->seed >> 32);
	t->ttl_ms = lab_usual_ttl_ms(s, t->quick);
	if (s->ttl_ms && !strstr(s->uri, "ttl=")) {
		if (t->behaviour->long_lease && s->caps & DLOCK_CAP_DURABLE)
			t->ttl_ms = LONG_LEASE_MS;
		n += snprintf(params + n, sizeof(params) - (size_t)n,
			      "ttl=%" PRId64 "ms&", t->ttl_ms);
	}
	t->ask_ms = ASK_MS;
	if (s->kind && s->kind->ask_ms) {
		t->ask_ms = s->kind->ask_ms;
		n += snprintf(params + n, sizeof(params) - (size_t)n,
			      "ask=%" PRId64 "ms&", t->ask_ms);
	}
	if (n == 0)
		return;
	params[n - 1] = '\0';
	add_params(t->direct, sizeof(t->direct), params);
	add_params(t->proxied, sizeof(t->proxied), params);
}

static void prepare(struct lab_trial *t)
{
	const struct lab_subject *s = t->subject;

	t->found_ms = -1;
	t->seed = mix(t->seed ^ mix(t->row * 64 + t->store));
	snprintf(t->name, sizeof(t->name), "cmp-%.10" PRIx64 "-%.18s",
		 t->seed >> 24, t->behaviour->id);
	snprintf(t->direct, sizeof(t->direct), "%s", s->uri);
	snprintf(t->proxied, sizeof(t->proxied), "%s",
		 *s->proxied ? s->proxied : s->uri);
	settle_params(t);
	t->check.no_tokens = s->foreign || !(s->caps & DLOCK_CAP_FENCE);
	t->check.slack_ns = lab_slack_ms(t) * LAB_MS;
	t->check.found_ns = t->ttl_ms ? lab_found_bound_ms(t) * LAB_MS : 0;
}

static void run_prepared(struct lab_trial *t)
{
	const struct lab_behaviour *b = t->behaviour;
	uint32_t missing = t->subject->foreign ? 0 :
						 b->caps & ~t->subject->caps;

	if (mkdir(t->dir, 0700) < 0 && errno != EEXIST) {
		lab_trial_fail(t, "no directory %s: %s", t->dir,
			       strerror(errno));
		return;
	}
	t->history = lab_history_open(t->dir);
	if (!t->history) {
		lab_trial_fail(t, "%s", lab_errmsg());
		return;
	}
	if (missing)
		ask_for_refusal(t, missing);
	if (!missing || (b->even_without && !t->broken))
		b->run(t);
	for (size_t i = 0; i < t->subject->n_nodes; i++)
		lab_proxy_heal(t->subject->proxies[i]);
}

void lab_trial_run(struct lab_trial *t)
{
	int64_t begun = lab_now();
	const char *missing = lacking(t);

	prepare(t);
	if (missing)
		lab_trial_fail(t, "%s", missing);
	else if (!lab_trial_stopped(t))
		run_prepared(t);
	if (lab_trial_stopped(t)) {
		t->failed = true;
		snprintf(t->why, sizeof(t->why), "interrupted");
	}
	lab_leave_all(t);
	lab_history_close(t->history);
	if (t->history && !t->failed)
		judge_history(t);
	lab_parties_free(t);
	note_down(t, begun);
}
