/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "support/wait.h"

#define LONG_RUN 100 /* leases: enough for every fault */
#define SKIPPED 16   /* tokens of members of multi-locks */
#define LEASES 15    /* ... and enough for a loss */

struct checks {
	int passed;
	int failed;
};

static void check(struct checks *k, bool good, const char *what)
{
	if (good)
		k->passed++;
	else
		k->failed++;
	if (!good)
		printf("FAIL: %s\n", what);
}

/* Return how many kinds of faults were never dealt. */
static int print_faults(const struct chaos *c)
{
	const struct chaos_deck *k;
	int never = 0;

	printf("faults:");
	for (int i = 0; i < CHAOS_LANES; i++) {
		k = &c->deck[i];
		for (size_t j = 0; j < k->nfaults; j++) {
			printf(" %s %" PRIu64, k->faults[j]->name, k->dealt[j]);
			never += k->dealt[j] == 0;
		}
	}
	printf("\n");
	return never;
}

static void print_counters(const struct chaos *c)
{
	struct chaos_counters *p = c->counters;

	printf("uses %" PRIu64 ", taken again %" PRIu64 ", cancelled %" PRIu64
	       ", at risk %" PRIu64 ", safe %" PRIu64 ", clients %" PRIu64
	       " (%" PRIu64 " tries failed), longest "
	       "stall %.1f ms\n",
	       atomic_load(&p->uses), atomic_load(&p->again),
	       atomic_load(&p->cancelled), atomic_load(&p->at_risk),
	       atomic_load(&p->safe), atomic_load(&p->opened),
	       atomic_load(&p->not_opened), (double)c->stall_ns / 1e6);
}

static void print_rules(struct checks *k, const struct lab_verdict *v)
{
	char what[64];

	printf("overlaps: mutex %" PRIu64 ", write side %" PRIu64
	       ", read side %" PRIu64 ", permit %" PRIu64 "\n",
	       v->overlaps[LAB_MUTEX], v->overlaps[LAB_WRITE],
	       v->overlaps[LAB_READ], v->overlaps[LAB_PERMIT]);
	for (int i = 0; i < LAB_NRULES; i++) {
		snprintf(what, sizeof(what), "%s: %" PRIu64 " violations",
			 lab_rule_name((enum lab_rule)i), v->broken[i]);
		check(k, v->broken[i] == 0, what);
	}
}

static uint64_t least_granted(const struct chaos *c)
{
	return (uint64_t)(c->o.seconds * 4 / slowness());
}

bool chaos_enough(const struct chaos *c)
{
	struct chaos_counters *p = c->counters;
	uint64_t floor = least_granted(c);

	return atomic_load(&p->granted) >= floor &&
	       atomic_load(&p->accepted) >= floor / 4 &&
	       atomic_load(&p->refused) > 0 && chaos_mix_unused(c) == 0;
}

/* A run with too few operations is no proof. */
static void check_enough(struct checks *k, struct chaos *c,
			 const struct lab_verdict *v)
{
	const struct chaos_store *s = c->o.store;
	uint64_t floor = least_granted(c);
	int never = print_faults(c);

	check(k, v->granted >= floor, "too little was granted");
	check(k, v->accepted >= floor / 4, "too few writes were accepted");
	check(k, v->refused > 0, "no stale write was refused");
	if (s->leases && c->o.seconds * 1000 >= LEASES * c->o.ttl_ms)
		check(k, v->lost > 0, "nothing was lost");
	if (c->o.seconds * 1000 >= LONG_RUN * c->o.ttl_ms)
		check(k, never == 0, "some faults were never dealt");
}

static void check_calls(struct checks *k, struct chaos *c)
{
	int64_t longest = 0;
	int64_t overruns = chaos_overruns(c, &longest);

	printf("the latest answer came %.3f ms after timeout + ask\n",
	       (double)longest / 1e6);
	check(k, overruns == 0, "acquires took longer than they may");
	if (atomic_load(&c->counters->unexpected))
		printf("ODD (%" PRIu64 "): %s\n",
		       atomic_load(&c->counters->unexpected),
		       c->counters->unexpected_text);
	check(k, !atomic_load(&c->counters->unexpected),
	      "answers without a reason");
	check(k, !c->worker_failed, "a worker did not end well");
}

bool chaos_verdict(struct chaos *c)
{
	/* On a late machine all processes are late. */
	int64_t slack = c->o.slack_ms * LAB_MS + 2 * c->stall_ns;
	struct lab_check what = { .slack_ns = slack };
	struct checks k = { 0, 0 };
	struct lab_verdict v;
	char text[16384];

	if (c->o.mix == CHAOS_MIX_ALL)
		what.skipped = SKIPPED;
	if (c->o.store->leases)
		what.found_ns = c->o.ttl_ms * LAB_MS / 3 + slack;
	check(&k, lab_history_close(c->history) == 0, lab_errmsg());
	c->history = NULL;
	if (lab_check_dir(c->dir, &what, &v) < 0) {
		printf("chaos: %s\n0 passed, 1 failed, 0 skipped\n",
		       lab_errmsg());
		return false;
	}
	lab_verdict_print(&v, text, sizeof(text));
	fputs(text, stdout);
	printf("%" PRIu64 " overlaps, %" PRIu64
	       " stale writes accepted, %" PRIu64 " refused\n",
	       v.broken[LAB_RULE_OVERLAP], v.broken[LAB_RULE_WRITER],
	       v.refused);
	print_counters(c);
	print_rules(&k, &v);
	check_enough(&k, c, &v);
	check_calls(&k, c);
	chaos_mix_print(c);
	check(&k, chaos_mix_unused(c) == 0, "some features were never used");
	printf("%d passed, %d failed, 0 skipped\n", k.passed, k.failed);
	return k.failed == 0;
}
