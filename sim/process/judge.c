/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/judge.h"

#include <inttypes.h>

#include "sim/process/resize.h"
#include "sim/process/sched.h"

enum { ENTRIES = 64 };

/* A hold of a caller; the same hold again for a re-entrant acquire. */
static struct entry {
	struct sim_name *name; /* NULL: free */
	dlock_hold *hold;
	enum sim_side side;
	int caller;
	int64_t asked_at;
	uint64_t token;
	int lost;
	struct sim_span span; /* the same in all entries of a hold */
} entries[ENTRIES];

static struct sim_rules rules;
static uint64_t grants;
static int64_t excused_until[SIM_MEMBERS];

void sim_judge_begin(const struct sim_rules *r)
{
	rules = *r;
	sim_ears_begin(&rules.hearing);
}

uint64_t sim_judge_grants(void)
{
	return grants;
}

void sim_judge_excuse(size_t member, int64_t until)
{
	if (until > excused_until[member])
		excused_until[member] = until;
}

int sim_judge_may_overlap(const struct sim_name *name)
{
	return rules.may_overlap ||
	       sim_sched_now() < excused_until[name->member];
}

static int may_lose(const struct sim_name *name)
{
	return name->is_well ? rules.hearing.well_may_lose : rules.may_lose;
}

static int excludes(const struct entry *one, const struct entry *other)
{
	if (one->name != other->name || one->caller == other->caller ||
	    one->side == SIM_PERMIT)
		return 0;
	return one->side == SIM_WRITE || other->side == SIM_WRITE;
}

static void check_alone(const struct entry *mine)
{
	uint32_t most = sim_resize_most(mine->name, mine->asked_at,
					may_lose(mine->name));
	uint32_t taken = 0;

	if (sim_judge_may_overlap(mine->name) ||
	    dlock_check(mine->hold) != DLOCK_OK)
		return;
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *s = &entries[i];

		if (s->name != mine->name || dlock_check(s->hold) != DLOCK_OK)
			continue;
		if (s->side == SIM_PERMIT)
			taken += s->span.permits;
		if (s != mine && excludes(mine, s))
			sim_sched_fail("overlap: callers %d and %d hold a lock",
				       s->caller, mine->caller);
	}
	if (taken > most)
		sim_sched_fail("overlap: %u of %u permits are held", taken,
			       most);
}

/* A re-entrant acquire returns the token of the first. */
static void check_token(const struct entry *mine)
{
	struct sim_name *n = mine->name;
	uint64_t token = dlock_token(mine->hold);
	int shared = mine->side != SIM_WRITE;

	for (size_t i = 0; i < ENTRIES; i++) {
		if (&entries[i] != mine && entries[i].name == n &&
		    entries[i].caller == mine->caller &&
		    dlock_token(entries[i].hold) == token)
			return;
	}
	if (sim_judge_may_overlap(n) || dlock_check(mine->hold) != DLOCK_OK)
		return;
	if (token <= n->largest[0] || (!shared && token <= n->largest[1]))
		sim_sched_fail("token %" PRIu64 " after %" PRIu64
			       " and %" PRIu64,
			       token, n->largest[0], n->largest[1]);
	if (token > n->largest[shared])
		n->largest[shared] = token;
}

void sim_judge_look(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		struct entry *s = &entries[i];

		if (!rules.looks || !s->name)
			continue;
		if (dlock_check(s->hold) != DLOCK_OK)
			s->lost = 1;
		else if (s->lost)
			sim_sched_fail("caller %d holds again what was lost",
				       s->caller);
	}
}

static struct entry *entry_of(const dlock_hold *hold, int caller)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		if (entries[i].name && entries[i].hold == hold &&
		    (caller < 0 || entries[i].caller == caller))
			return &entries[i];
	}
	return NULL;
}

/* A lost hold may be gone from the store, too. */
static int is_used(const struct sim_name *name)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		if (entries[i].name == name && !entries[i].lost)
			return 1;
	}
	return 0;
}

void sim_judge_granted(struct sim_name *name, enum sim_side side,
		       dlock_hold *hold, int caller, int64_t asked_at,
		       int64_t stalled)
{
	int64_t from = asked_at > name->free_since ? asked_at :
						     name->free_since;
	int64_t late = (name->is_well ? rules.well_late_ns : rules.late_ns) +
		       sim_sched_stalled() - stalled;
	const struct entry *again = entry_of(hold, -1);
	size_t i = 0;

	while (i < ENTRIES && entries[i].name)
		i++;
	if (i == ENTRIES)
		sim_sched_fail("more than %d holds", ENTRIES);
	if (name->holds == 0 && name->leaving == 0 && !name->is_far &&
	    from != SIM_FOREVER && sim_sched_now() - from > late)
		sim_sched_fail("a lock was free for %" PRId64
			       " ms while caller %d waited",
			       (sim_sched_now() - from) / SIM_MS, caller);
	if (!is_used(name))
		name->used_from = sim_sched_now();
	entries[i] = (struct entry){
		.name = name,
		.hold = hold,
		.side = side,
		.caller = caller,
		.asked_at = asked_at,
		.token = dlock_token(hold),
		.span = again ? again->span :
				(struct sim_span){ .permits = 1,
						   .from = SIM_FOREVER,
						   .by = SIM_FOREVER },
	};
	sim_ear_open(name, hold, caller);
	name->holds++;
	grants++;
	sim_sched_tell("caller %d has %p, side %d, hold %p", caller,
		       (void *)name, (int)side, (void *)hold);
	sim_sched_mix(dlock_token(hold) ^ (uint64_t)caller);
	sim_judge_look();
	check_alone(&entries[i]);
	check_token(&entries[i]);
}

/* A hold is lost for any cause, and a thread that stalled counts as one. */
void sim_judge_fresh(const dlock_hold *hold, int64_t stalled)
{
	int64_t left_ms;

	if (rules.fresh_ns == 0)
		return;
	left_ms = dlock_remaining_ms(hold);
	if (sim_sched_stalled() == stalled && left_ms > 0 &&
	    left_ms * SIM_MS < rules.fresh_ns)
		sim_sched_fail("a new hold has %" PRId64 " ms left", left_ms);
}

void sim_judge_releasing(dlock_hold *hold, int caller)
{
	struct entry *s = entry_of(hold, caller);

	if (!s)
		sim_sched_fail("caller %d releases without a hold", caller);
	sim_sched_tell("caller %d releases %p", caller, (void *)s->name);
	if (dlock_token(hold) != s->token)
		sim_sched_fail("a hold of caller %d has another token", caller);
	sim_judge_look();
	sim_ear_close(hold);
	s->name->holds--;
	s->name->free_since = SIM_FOREVER;
	s->name = NULL;
}

void sim_judge_released(struct sim_name *name, int rc, int may_fail)
{
	if (rc != DLOCK_OK && !may_fail &&
	    !(rules.scarce && (rc == DLOCK_ENOMEM || rc == DLOCK_EUNREACHABLE)))
		sim_sched_fail("a release returned %d: %s", rc, dlock_errmsg());
	if (name->holds == 0)
		name->free_since = sim_sched_now();
}

void sim_judge_lost(const dlock_hold *hold)
{
	struct entry *s = entry_of(hold, -1);

	sim_sched_tell("hold %p is lost", (const void *)hold);
	sim_judge_look();
	if (s)
		s->lost = 1;
	if (s && sim_sched_now() >= s->span.from)
		return;
	if (s ? !may_lose(s->name) : !rules.may_lose)
		sim_sched_fail("a hold was lost without a cause");
}

void sim_judge_agreed(const dlock_hold *hold, const struct sim_span *span)
{
	struct entry *s = entry_of(hold, -1);

	s->span = *span;
	check_alone(s);
}

void sim_judge_stands(const dlock_hold *hold, int64_t at)
{
	const struct entry *s = entry_of(hold, -1);

	if (at > s->span.by)
		sim_sched_fail("caller %d holds for %" PRId64
			       " ms after the end",
			       s->caller, (at - s->span.by) / SIM_MS);
}

void sim_judge_returned(const char *call, int64_t begun, int64_t stalled,
			int64_t timeout_ms)
{
	int64_t took = sim_sched_now() - begun;
	int64_t over = sim_sched_stalled() - stalled + rules.overdue_ns;

	if (timeout_ms >= 0 && took > timeout_ms * SIM_MS + over)
		sim_sched_fail("%s with a timeout of %" PRId64
			       " ms took %" PRId64 " ms",
			       call, timeout_ms, took / SIM_MS);
}
