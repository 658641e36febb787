/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, the engine driven as a library. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare/broken.h"
#include "lab/clock.h"
#include "lab/compare.h"
#include "lab/fail.h"
#include "lab/redis.h"
#include "lab/subject.h"

TestSuite(compare, .init = broken_register, .timeout = 120);

static atomic_bool stop;

static struct lab_findings *run(struct lab_compare_options o)
{
	static char self[4096];
	static const char *worker[] = { self, "--worker", NULL };
	struct lab_findings *f = NULL;

	/* Else our workers would be taken for tests by Criterion. */
	unsetenv("BXFI_MAP");
	cr_assert(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	o.worker = worker;
	o.stop = &stop;
	o.quick = true;
	o.seed = 1;
	cr_assert_eq(lab_compare(&o, &f), 0, "%s", lab_errmsg());
	return f;
}

static struct lab_findings *run_uri(const char *uri, const char *only)
{
	return run((struct lab_compare_options){
		.uris = &uri, .n_uris = 1, .only = only });
}

static const struct lab_finding *found(const struct lab_findings *f,
				       const char *store, const char *id)
{
	for (size_t s = 0; s < f->n_stores; s++)
		for (size_t b = 0; b < f->n_behaviours; b++)
			if (!strcmp(f->stores[s].name, store) &&
			    !strcmp(f->behaviours[b].id, id))
				return lab_finding(f, s, b);
	cr_assert_fail("nothing is said of %s and %s", store, id);
	return NULL;
}

static void is(const struct lab_findings *f, const char *store, const char *id,
	       enum lab_outcome outcome)
{
	const struct lab_finding *c = found(f, store, id);

	cr_assert_eq(c->outcome, outcome, "%s, %s: %s, not %s: %s", store, id,
		     lab_outcome_words(c->outcome), lab_outcome_words(outcome),
		     c->why);
}

/* "scheme:///directory" in the test's own directory. */
static const char *in_files(const char *scheme)
{
	static char uri[512];
	char dir[400];

	snprintf(dir, sizeof(dir), "%s/broken-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	cr_assert(mkdtemp(dir));
	snprintf(uri, sizeof(uri), "%s://%s", scheme, dir);
	return uri;
}

Test(compare, mem_keeps_what_it_declares)
{
	struct lab_findings *f = run_uri(
		"mem:", "exclusion,re-,try,timed,cancel,read,sem,fair,fork");

	for (size_t b = 0; b < f->n_behaviours; b++)
		is(f, "mem", f->behaviours[b].id, LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

Test(compare, file_refuses_what_it_does_not_declare)
{
	struct lab_findings *f = run_uri("file:", "fairness,holder-killed");

	is(f, "file", "fairness", LAB_OUTCOME_REFUSED);
	is(f, "file", "holder-killed", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

Test(compare, who_frees_other_peoples_locks_is_found)
{
	struct lab_findings *f = run_uri(in_files("steal"), "exclusion,re-");

	is(f, "steal", "exclusion", LAB_OUTCOME_LIE);
	lab_findings_free(f);
}

Test(compare, who_is_not_fair_and_says_so_is_found)
{
	struct lab_findings *f = run_uri(in_files("unfair"),
					 "fairness,exclusion");

	is(f, "unfair", "fairness", LAB_OUTCOME_LIE);
	is(f, "unfair", "exclusion", LAB_OUTCOME_KEPT);
	cr_assert(strstr(found(f, "unfair", "fairness")->why, "FAIR"));
	cr_assert_eq(lab_findings_worst(f), LAB_OUTCOME_LIE);
	lab_findings_free(f);
}

static const struct lab_subject_kind *redis_kind(void)
{
	for (size_t i = 0; lab_subject_kinds[i]; i++)
		if (!strcmp(lab_subject_kinds[i]->name, "redis"))
			return lab_subject_kinds[i];
	return NULL;
}

/* The same server, with the store that it is made for and the broken one. */
Test(compare, who_counts_leases_from_the_answer_is_found)
{
	struct lab_subject_kind late;
	const struct lab_subject_kind *kinds[] = { redis_kind(), &late, NULL };
	struct lab_findings *f;

	cr_assert(kinds[0]);
	late = *kinds[0];
	late.name = late.scheme = "late";
	f = run((struct lab_compare_options){
		.lab = true, .kinds = kinds, .only = "network-cut" });
	if (f->n_stores == 2)
		cr_skip_test("redis: is not built in");
	is(f, "redis", "network-cut", LAB_OUTCOME_KEPT);
	is(f, "late", "network-cut", LAB_OUTCOME_LIE);
	cr_assert(strstr(found(f, "late", "network-cut")->why, "at once"), "%s",
		  found(f, "late", "network-cut")->why);
	lab_findings_free(f);
}

Test(compare, a_store_that_is_not_there_is_no_verdict)
{
	struct lab_findings *f = run_uri("nosuch:", "try,fork");

	is(f, "nosuch", "try", LAB_OUTCOME_NOT_RUN);
	cr_assert(*f->stores[0].trouble);
	cr_assert_eq(lab_findings_worst(f), LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

/* A lock command that grants everything to everybody. */
Test(compare, a_foreign_lock_that_is_none_is_broken)
{
	const char *command =
		"echo ready no lock 1.0; while read a b; do case $a in "
		"quit) break;; token) echo none;; *) echo ok;; esac; done";
	struct lab_findings *f =
		run((struct lab_compare_options){ .commands = &command,
						  .n_commands = 1,
						  .only = "try,excl,fork" });

	cr_assert(f->stores[0].foreign);
	cr_assert_str_eq(f->stores[0].server, "no lock 1.0");
	is(f, f->stores[0].name, "try", LAB_OUTCOME_BROKEN);
	is(f, f->stores[0].name, "exclusion", LAB_OUTCOME_BROKEN);
	is(f, f->stores[0].name, "fork", LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

static void stop_at_second(const struct lab_progress *p, void *arg)
{
	(void)arg;
	if (p->done == 2)
		atomic_store(&stop, true);
}

Test(compare, stops_when_told_to)
{
	const char *uris[] = { "mem:", "file:" };
	int64_t begun = lab_now();
	struct lab_findings *f = run((struct lab_compare_options){
		.uris = uris, .n_uris = 2, .progress = stop_at_second });

	cr_assert(f->run.interrupted);
	cr_assert_lt(lab_now() - begun, 20000 * LAB_MS);
	is(f, "file", "fork", LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

/* A JVM takes seconds to come up; nobody waits for it who is told to end. */
Test(compare, servers_are_not_waited_for_by_who_is_told_to_end)
{
	atomic_bool now = true;

	lab_server_stop_waiting(&now);
	cr_assert_null(lab_redis_start(NULL));
	cr_assert(strstr(lab_errmsg(), "interrupted"), "%s", lab_errmsg());
	lab_server_stop_waiting(NULL);
}

/* A fault leaves a timeline, in which nobody overlaps. */
Test(compare, faults_are_drawn)
{
	struct lab_findings *f = run_uri("file:", "holder-paused");
	const struct lab_timeline *t = f->timelines;

	cr_assert_eq(f->n_timelines, 1);
	cr_assert_eq(t->n_parties, 2);
	cr_assert_eq(t->n_beliefs, 2);
	cr_assert_eq(t->n_overlaps, 0);
	cr_assert_lt(t->beliefs[0].from, 0, "A held before the fault");
	cr_assert_gt(t->beliefs[1].from, t->fault_to, "B was after it");
	lab_findings_free(f);
}

Test(compare, words_that_select_nothing_are_named)
{
	char *word = lab_compare_unknown("try,nonsense,fork");

	cr_assert_str_eq(word, "nonsense");
	free(word);
	cr_assert_null(lab_compare_unknown("try,hold"));
	cr_assert_null(lab_compare_unknown(NULL));
}
