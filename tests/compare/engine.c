/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, the engine driven as a library. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/drive.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"
#include "lab/servers/zookeeper.h"
#include "temp.h"

TestSuite(compare, .init = drive_init, .timeout = 120);

/* "scheme:///directory" in the test's own directory. */
static const char *in_files(const char *scheme)
{
	static char uri[PATH_MAX + 16];
	char dir[PATH_MAX];

	cr_assert_eq(temp_make(dir), 0);
	snprintf(uri, sizeof(uri), "%s://%s", scheme, dir);
	return uri;
}

Test(compare, mem_keeps_what_it_declares)
{
	struct lab_findings *f =
		drive_uri("mem:", "exclusion,try,timed,read,sem,fair,fork");

	for (size_t b = 0; b < f->n_scenarios; b++)
		drive_is(f, "mem", f->scenarios[b].id, LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

Test(compare, file_refuses_what_it_does_not_declare)
{
	struct lab_findings *f = drive_uri("file:", "fairness,holder-killed");

	drive_is(f, "file", "fairness", LAB_OUTCOME_REFUSED);
	drive_is(f, "file", "holder-killed", LAB_OUTCOME_KEPT);
	lab_findings_free(f);
}

/* Two must hold at once: a short run on a busy machine has few chances. */
Test(compare, a_store_that_frees_other_locks_is_found)
{
	struct lab_findings *f = drive_at_length(in_files("steal"),
						 "exclusion,re-");

	drive_is(f, "steal", "exclusion", LAB_OUTCOME_LIE);
	lab_findings_free(f);
}

Test(compare, a_store_that_lies_of_fairness_is_found)
{
	struct lab_findings *f = drive_uri(in_files("unfair"),
					   "fairness,exclusion");

	drive_is(f, "unfair", "fairness", LAB_OUTCOME_LIE);
	drive_is(f, "unfair", "exclusion", LAB_OUTCOME_KEPT);
	cr_assert(strstr(drive_found(f, "unfair", "fairness")->why, "FAIR"));
	cr_assert_eq(lab_findings_worst(f), LAB_OUTCOME_LIE);
	lab_findings_free(f);
}

Test(compare, a_store_that_shares_no_lock_is_found)
{
	struct lab_findings *f = drive_uri(in_files("alone"),
					   "read-write,semaphore,exclusion");
	const char *why;

	drive_is(f, "alone", "read-write", LAB_OUTCOME_LIE);
	drive_is(f, "alone", "semaphore", LAB_OUTCOME_LIE);
	drive_is(f, "alone", "exclusion", LAB_OUTCOME_KEPT);
	why = drive_found(f, "alone", "read-write")->why;
	cr_assert(strstr(why, "B could not read while A did"), "%s", why);
	why = drive_found(f, "alone", "semaphore")->why;
	cr_assert(strstr(why, "permit 2 of 2 could not be had"), "%s", why);
	lab_findings_free(f);
}

/* The same server, with the right store and the broken store. */
Test(compare, leases_from_the_answer_are_found)
{
	struct lab_sut_kind late;
	const struct lab_sut_kind *kinds[] = { drive_kind("redis"), &late,
					       NULL };
	struct lab_findings *f;

	cr_assert(kinds[0]);
	late = *kinds[0];
	late.name = late.scheme = "late";
	f = drive((struct lab_compare_options){
		.lab = true, .kinds = kinds, .only = "network-cut" });
	if (f->n_stores == 2)
		cr_skip_test("redis: is not built in");
	drive_is(f, "redis", "network-cut", LAB_OUTCOME_KEPT);
	drive_is(f, "late", "network-cut", LAB_OUTCOME_LIE);
	cr_assert(strstr(drive_found(f, "late", "network-cut")->why, "at once"),
		  "%s", drive_found(f, "late", "network-cut")->why);
	lab_findings_free(f);
}

Test(compare, a_store_that_is_not_there_is_no_verdict)
{
	struct lab_findings *f = drive_uri("nosuch:", "try,fork");

	drive_is(f, "nosuch", "try", LAB_OUTCOME_NOT_RUN);
	cr_assert(*f->stores[0].trouble);
	cr_assert_eq(lab_findings_worst(f), LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

/* A lock command that grants every request. */
Test(compare, a_foreign_lock_that_is_none_is_broken)
{
	const char *command =
		"echo ready no lock 1.0; while read a b; do case $a in "
		"quit) break;; token) echo none;; *) echo ok;; esac; done";
	struct lab_findings *f =
		drive((struct lab_compare_options){ .commands = &command,
						    .n_commands = 1,
						    .only = "try,excl,fork" });

	cr_assert(f->stores[0].foreign);
	cr_assert_str_eq(f->stores[0].server, "no lock 1.0");
	drive_is(f, f->stores[0].name, "try", LAB_OUTCOME_BROKEN);
	drive_is(f, f->stores[0].name, "exclusion", LAB_OUTCOME_BROKEN);
	drive_is(f, f->stores[0].name, "fork", LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

static void stop_at_second(const struct lab_progress *p, void *arg)
{
	(void)arg;
	if (p->done == 2)
		atomic_store(&drive_stop, true);
}

Test(compare, stops_when_told_to)
{
	const char *uris[] = { "mem:", "file:" };
	int64_t begun = lab_now();
	struct lab_findings *f = drive((struct lab_compare_options){
		.uris = uris, .n_uris = 2, .progress = stop_at_second });

	cr_assert(f->run.interrupted);
	cr_assert_lt(lab_now() - begun, 20000 * LAB_MS);
	drive_is(f, "file", "fork", LAB_OUTCOME_NOT_RUN);
	lab_findings_free(f);
}

/* A JVM takes seconds to start; an interrupted run does not wait. */
Test(compare, an_interrupted_run_waits_for_no_server)
{
	atomic_bool now = true;

	lab_server_stop_waiting(&now);
	cr_assert_null(lab_redis_start(NULL));
	cr_assert(strstr(lab_errmsg(), "interrupted"), "%s", lab_errmsg());
	lab_server_stop_waiting(NULL);
}

/* A fault leaves a timeline, without overlaps. */
Test(compare, faults_are_drawn)
{
	struct lab_findings *f = drive_uri("file:", "holder-paused");
	const struct lab_timeline *t = f->timelines;

	cr_assert_eq(f->n_timelines, 1);
	cr_assert_eq(t->n_participants, 2);
	cr_assert_eq(t->n_beliefs, 2);
	cr_assert_eq(t->n_overlaps, 0);
	cr_assert_lt(t->beliefs[0].from, 0, "A held before the fault");
	cr_assert_gt(t->beliefs[1].from, t->fault_to, "B was after it");
	lab_findings_free(f);
}

Test(compare, unknown_words_are_named)
{
	char *word = lab_compare_unknown("try,nonsense,fork");

	cr_assert_str_eq(word, "nonsense");
	free(word);
	cr_assert_null(lab_compare_unknown("try,hold"));
	cr_assert_null(lab_compare_unknown(NULL));
}

/* ---- Servers that the user started --------------------------------------- */

TestSuite(compare_uris, .init = drive_init, .timeout = 120);

/* A store may round times. */
static void is_not_accused(struct lab_server *s, const char *scheme)
{
	struct lab_findings *f;
	char uri[160];

	cr_assert(s, "%s", lab_errmsg());
	snprintf(uri, sizeof(uri), "%s://127.0.0.1:%d/", scheme, s->port);
	f = drive_uri(uri, "exclusion,holder-killed,timed-wait,try");
	for (size_t b = 0; b < f->n_scenarios; b++) {
		const struct lab_finding *c = lab_finding(f, 0, b);

		cr_expect(c->outcome != LAB_OUTCOME_LIE &&
				  c->outcome != LAB_OUTCOME_BROKEN,
			  "%s, %s: %s", uri, f->scenarios[b].id, c->why);
		/* The same of a first try, which a busy machine was blamed for;
		 * unless the server gave no answer at all. */
		cr_expect(!strstr(c->why, "was not granted") ||
				  strstr(c->why, "no answer in time"),
			  "%s, %s: %s", uri, f->scenarios[b].id, c->why);
	}
	/* A store not built in is trouble. */
	if (!*f->stores[0].trouble)
		drive_is(f, f->stores[0].name, "holder-killed",
			 LAB_OUTCOME_KEPT);
	lab_findings_free(f);
	lab_server_free(s);
}

Test(compare_uris, memcached)
{
	is_not_accused(lab_memcached_start(NULL), "memcached");
}

/* The server grants no lease below two ticks. */
Test(compare_uris, zookeeper)
{
	static const struct lab_zk_options o = { .tick_ms = 1000 };

	is_not_accused(lab_zk_start(&o), "zk");
}
