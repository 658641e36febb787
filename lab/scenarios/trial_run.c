/* SPDX-License-Identifier: Apache-2.0 */
/* A trial from beginning to end, and again where the machine was too busy. */
#include "lab/base/fail.h"
#include "lab/scenarios/load.h"
#include "lab/scenarios/scene.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ASK_MS 40           /* the library's own */
#define LONG_LEASE_MS 12000 /* a server has restarted by then */
#define ATTEMPTS 3

/* ---- Needs --------------------------------------------------------------- */

static const char *lacking(const struct lab_trial *t)
{
	const struct lab_sut *s = t->sut;
	int needs = t->scenario->needs;

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

/* Check that a store without a capability refuses a client that requires it. */
static void ask_for_refusal(struct lab_trial *t, uint32_t missing)
{
	struct lab_worker *p = lab_join_requiring(t, "A", LAB_JOIN_MAY_FAIL,
						  missing);
	const struct lab_reply *hello = p ? &p->hello : NULL;
	char names[128] = "";

	for (uint32_t bit = 1; bit; bit <<= 1)
		if (missing & bit && dlock_cap_name(bit))
			snprintf(names + strlen(names),
				 sizeof(names) - strlen(names), "%s%s",
				 *names ? ", " : "", dlock_cap_name(bit));
	if (hello && hello->rc == DLOCK_ENOTSUP) {
		t->refused = true;
		lab_remark(t,
			   "does not declare %s, and refuses a client "
			   "that requires it",
			   names);
	} else if (hello) {
		lab_broken(t, "does not declare %s, and did not refuse it",
			   names);
	}
	lab_leave(p);
}

/* ---- The verdict --------------------------------------------------------- */

/* Whether such a store may lose acknowledged claims. */
static bool may_lose(const struct lab_trial *t)
{
	const uint32_t lasting = DLOCK_CAP_DURABLE | DLOCK_CAP_CONSISTENT;

	return t->scenario->may_lose && (t->sut->caps & lasting) == 0;
}

static const char *rule_words(const struct lab_verdict *v)
{
	static const char *const words[LAB_NRULES] = {
		[LAB_RULE_SHAPE] = "answers without questions",
		[LAB_RULE_OVERLAP] = "two held it at once",
		[LAB_RULE_TOKEN] = "a token did not rise",
		[LAB_RULE_LINEAR] = "no order of events explains the answers",
		[LAB_RULE_WRITER] = "an old holder's write was accepted",
		[LAB_RULE_LOST] = "a loss was not told in time, or wrongly",
		[LAB_RULE_LEFT] = "something was left behind",
	};

	/* The worst of several: two at once. */
	if (v->broken[LAB_RULE_OVERLAP])
		return words[LAB_RULE_OVERLAP];
	for (int i = 0; i < LAB_NRULES; i++)
		if (v->broken[i])
			return words[i];
	return "";
}

/* The history counts more than the scenario's own checks. */
static void judge_trial(struct lab_trial *t)
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
		t->certain = v->violations > v->late;
		if (v->broken[LAB_RULE_OVERLAP] && t->overlap_ms > 0)
			lab_broken(t, "%s, for %.1f ms", rule_words(v),
				   t->overlap_ms);
		else if (v->violations)
			lab_broken(t, "%s: %.330s", rule_words(v),
				   v->nwords ? v->words[0] : "");
		if (v->wiped) {
			t->lost_declared = true;
			t->found_ms = v->found_ns == LAB_UNTOLD ?
					      -1 :
					      v->found_ns / LAB_MS;
		}
	}
	free(records);
	free(v);
}

static enum lab_outcome outcome_of(const struct lab_trial *t)
{
	if (t->failed)
		return LAB_OUTCOME_NOT_RUN;
	if (t->broken && t->sut->foreign)
		return LAB_OUTCOME_BROKEN;
	if (t->broken)
		return LAB_OUTCOME_LIE;
	if (t->refused)
		return LAB_OUTCOME_REFUSED;
	if (t->lost_declared)
		return may_lose(t) ? LAB_OUTCOME_LOSS : LAB_OUTCOME_LIE;
	return LAB_OUTCOME_KEPT;
}

/* ---- One attempt --------------------------------------------------------- */

/* Derive numbers from the seed, so that runs repeat, whatever runs beside. */
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

int64_t lab_usual_ttl_ms(const struct lab_sut *s, bool quick)
{
	if (!s->ttl_ms || strstr(s->uri, "ttl="))
		return s->ttl_ms;
	return (quick ? INT64_C(1000) : INT64_C(2000)) *
	       (s->kind && s->kind->lease_times ? s->kind->lease_times : 1);
}

/* Choose prefix and ttl; parameters in the URI stay. */
static void choose_times(struct lab_trial *t)
{
	const struct lab_sut *s = t->sut;
	char params[128] = "";
	int n = 0;

	if (!strstr(s->uri, "prefix="))
		n = snprintf(params, sizeof(params),
			     "prefix=dlock-compare-%.8" PRIx64 "&",
			     t->seed >> 32);
	t->ttl_ms = lab_usual_ttl_ms(s, t->quick);
	if (s->ttl_ms && !strstr(s->uri, "ttl=")) {
		if (t->scenario->long_lease && s->caps & DLOCK_CAP_DURABLE)
			t->ttl_ms = LONG_LEASE_MS;
		t->ttl_ms *= t->time_scale;
		n += snprintf(params + n, sizeof(params) - (size_t)n,
			      "ttl=%" PRId64 "ms&", t->ttl_ms);
	}
	t->ask_ms = s->kind && s->kind->ask_ms ? s->kind->ask_ms : ASK_MS;
	if (s->ttl_ms && !strstr(s->uri, "ask=")) {
		t->ask_ms *= t->time_scale;
		n += snprintf(params + n, sizeof(params) - (size_t)n,
			      "ask=%" PRId64 "ms&", t->ask_ms);
	}
	if (s->kind && s->kind->params)
		n += snprintf(params + n, sizeof(params) - (size_t)n, "%s&",
			      s->kind->params);
	if (n == 0)
		return;
	params[n - 1] = '\0';
	add_params(t->direct, sizeof(t->direct), params);
	add_params(t->proxied, sizeof(t->proxied), params);
}

/* Of a place in the table, and of an attempt. */
static uint64_t seed_of(const struct lab_trial *t)
{
	uint64_t place = t->row * 64 + t->store;

	return mix(t->seed ^ mix(place | (uint64_t)(t->time_scale - 1) << 32));
}

static void prepare_trial(struct lab_trial *t)
{
	const struct lab_sut *s = t->sut;

	t->found_ms = -1;
	t->seed = seed_of(t);
	snprintf(t->name, sizeof(t->name), "cmp-%.10" PRIx64 "-%.18s",
		 t->seed >> 24, t->scenario->id);
	snprintf(t->direct, sizeof(t->direct), "%s", s->uri);
	snprintf(t->proxied, sizeof(t->proxied), "%s",
		 *s->proxied ? s->proxied : s->uri);
	choose_times(t);
	t->check.no_tokens = s->foreign || !(s->caps & DLOCK_CAP_FENCE);
	t->check.slack_ns = lab_slack_ms(t) * LAB_MS;
	t->check.found_ns = t->ttl_ms ? lab_found_bound_ms(t) * LAB_MS : 0;
}

static void run_prepared(struct lab_trial *t)
{
	const struct lab_scenario *b = t->scenario;
	uint32_t missing = t->sut->foreign ? 0 : b->caps & ~t->sut->caps;

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
	lab_must(t, lab_room(t->dir));
	lab_must(t, lab_sut_reset(t->sut));
	/* The trial would only see the server's trouble. */
	if (t->failed)
		return;
	if (missing)
		ask_for_refusal(t, missing);
	if (!missing || (b->even_without && !t->broken))
		b->run(t);
	for (size_t i = 0; i < t->sut->n_nodes; i++)
		lab_proxy_heal(t->sut->proxies[i]);
}

static void attempt_trial(struct lab_trial *t)
{
	prepare_trial(t);
	if (!lab_trial_stopped(t))
		run_prepared(t);
	if (lab_trial_stopped(t)) {
		t->failed = true;
		snprintf(t->why, sizeof(t->why), "interrupted");
	}
	lab_leave_all(t);
	lab_history_close(t->history);
	if (t->history && !t->failed)
		judge_trial(t);
	lab_workers_free(t);
}

/* ---- All of them --------------------------------------------------------- */

static void note_down(struct lab_trial *t, int64_t begun, const char *before)
{
	struct lab_finding *cell;

	if (t->lost_declared && !t->broken && !t->failed && !*t->why)
		snprintf(t->why, sizeof(t->why),
			 "the store lost what it held; the holder was told "
			 "after %" PRId64 " ms",
			 t->found_ms);
	pthread_mutex_lock(t->mutex);
	cell = lab_finding(t->findings, t->store, t->row);
	cell->outcome = outcome_of(t);
	cell->why = lab_findings_text(t->findings, "%s%s%s", t->why,
				      *t->why && *before ? "; " : "", before);
	cell->found_ms = t->failed ? -1 : t->found_ms;
	cell->took_ms = (lab_now() - begun) / LAB_MS;
	if (t->kept)
		cell->log = lab_findings_text(t->findings, "%s", t->dir);
	pthread_mutex_unlock(t->mutex);
}

/* Begin from the start, on a longer time scale; remarks are kept. */
static void begin_again(struct lab_trial *t, const struct lab_trial *first,
			int time_scale)
{
	pthread_mutex_lock(t->mutex);
	lab_findings_forget(t->findings, t->store, t->row);
	pthread_mutex_unlock(t->mutex);
	*t = *first;
	t->time_scale = time_scale;
	snprintf(t->dir, sizeof(t->dir), "%.500s-%d", first->dir, time_scale);
}

static void run_attempts(struct lab_trial *t, char *before, size_t size)
{
	const struct lab_trial first = *t;

	for (int n = 1;; n++) {
		struct lab_load load = lab_load_begin();
		int percent;

		attempt_trial(t);
		percent = lab_load_percent(&load);
		if ((!t->failed && !t->broken) || t->certain || n == ATTEMPTS ||
		    percent < t->busy_percent || lab_trial_stopped(t))
			return;
		if (n == 1)
			snprintf(
				before, size,
				"tried again, as the machine was busy (%d %%); "
				"at first: %s",
				percent, t->why);
		begin_again(t, &first, 2 * t->time_scale);
	}
}

void lab_trial_run(struct lab_trial *t)
{
	const char *missing = lacking(t);
	char before[500] = "";
	int64_t begun;

	if (!missing)
		lab_sut_claim(t->sut);
	begun = lab_now();

	if (missing) {
		t->found_ms = -1;
		lab_trial_fail(t, "%s", missing);
	} else {
		run_attempts(t, before, sizeof(before));
		lab_sut_disclaim(t->sut);
	}
	note_down(t, begun, before);
}
