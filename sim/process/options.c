/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/options.h"

#include "sim/process/sched.h"

enum { LEAST_MS = 100, SLACK_MS = 2, PAUSE_MS = 500 };

int64_t sim_options_least_ms(const struct sim_caller *me)
{
	const struct sim_terms *t = &me->play->terms;

	return t->slow ? t->ttl_ms / 2 : LEAST_MS;
}

static int64_t draw_ms(struct sim_caller *me, const char *site, int64_t least,
		       int64_t most)
{
	return least + (int64_t)sim_draw(me->play->chance, site,
					 (uint64_t)(most - least + 1));
}

/* As long as a hold of a few naps. */
static int64_t naps_ms(const struct sim_caller *me)
{
	return 2 * me->play->terms.nap_ns / SIM_MS;
}

dlock_acquire_options sim_options_draw(struct sim_caller *me,
				       const struct sim_name *name)
{
	int64_t ttl_ms = dlock_ttl_ms(me->play->client[me->client]);
	int64_t least_ms = sim_options_least_ms(me);
	int part = me->play->terms.short_leases ? 6 : 2;
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	if (name->kind == SIM_PERMITS)
		o.permits = (uint32_t)draw_ms(me, "taken", 1, name->permits);
	switch (sim_draw(me->play->chance, "option", 5)) {
	case 0:
		o.max_hold_ms = draw_ms(me, "held", 1, naps_ms(me));
		break;
	case 1:
		o.no_renew = 1;
		o.lease_ms = draw_ms(me, "lease", least_ms,
				     least_ms + naps_ms(me));
		break;
	case 2:
		if (ttl_ms > 0)
			o.lease_ms = draw_ms(me, "lease", ttl_ms / part,
					     ttl_ms);
		break;
	default:
		break;
	}
	sim_sched_tell("options: %d permits, lease %d ms%s, end %d ms",
		       (int)o.permits, (int)o.lease_ms,
		       o.no_renew ? " without renewals" : "",
		       (int)o.max_hold_ms);
	return o;
}

int sim_options_end(const dlock_acquire_options *o)
{
	return o->max_hold_ms > 0 || o->no_renew;
}

int64_t sim_options_pause(const dlock_acquire_options *o)
{
	return o->lease_ms > 0 ? PAUSE_MS * SIM_MS : 0;
}

/* An answer may come too late for a short lease. */
int sim_options_may_end(const dlock_acquire_options *o, int rc,
			int64_t timeout_ms, int holds)
{
	return (rc == DLOCK_ELOST && holds && sim_options_end(o)) ||
	       (rc == DLOCK_EUNREACHABLE && o->lease_ms > 0 && timeout_ms >= 0);
}

static struct sim_span span_of(const dlock_acquire_options *o)
{
	return (struct sim_span){ o->permits > 1 ? o->permits : 1, SIM_FOREVER,
				  SIM_FOREVER };
}

/* The hold ends `ms` after a moment since `begun`. */
static void end_after(struct sim_span *span, int64_t begun, int64_t ms)
{
	span->from = begun + ms * SIM_MS;
	span->by = sim_sched_now() + (ms + SLACK_MS) * SIM_MS;
}

void sim_options_agree(const dlock_acquire_options *o, dlock_client *c,
		       const dlock_hold *hold, int64_t begun)
{
	int64_t left_ms = dlock_remaining_ms(hold);
	struct sim_span span = span_of(o);

	if (sim_options_end(o))
		end_after(&span, begun,
			  o->no_renew ? o->lease_ms : o->max_hold_ms);
	sim_judge_agreed(hold, &span);
	if (o->lease_ms > 0 && dlock_ttl_ms(c) > 0 && left_ms > o->lease_ms)
		sim_sched_fail("a lease of %d ms has %d ms left",
			       (int)o->lease_ms, (int)left_ms);
}

void sim_options_extend(struct sim_caller *me, const dlock_acquire_options *o,
			dlock_hold *hold)
{
	int64_t ms = draw_ms(me, "extended", 1, naps_ms(me));
	int64_t begun = sim_sched_now();
	struct sim_span span = span_of(o);
	int rc = dlock_extend(hold, ms);

	sim_sched_tell("caller %d moves the end by %d ms: %d", me->number,
		       (int)ms, rc);
	end_after(&span, begun, ms);
	if (rc == DLOCK_OK)
		sim_judge_agreed(hold, &span);
	else if (rc == DLOCK_ELOST)
		sim_judge_lost(hold);
	else
		sim_sched_fail("dlock_extend returned %d: %s", rc,
			       dlock_errmsg());
}
