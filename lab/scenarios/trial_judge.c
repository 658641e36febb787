/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a trial. */
#include "lab/base/fail.h"
#include "lab/scenarios/trial.h"

#include <stdlib.h>

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
		[LAB_RULE_BUSY] = "busy without a holder",
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
void lab_trial_judge(struct lab_trial *t)
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

enum lab_outcome lab_trial_outcome(const struct lab_trial *t)
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
