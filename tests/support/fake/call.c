/* SPDX-License-Identifier: Apache-2.0 */
#include "fake/store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void log_call(struct fake *f, enum fake_verb verb,
		     const struct dlk_ticket *t, size_t n, dlk_time deadline,
		     size_t *place)
{
	struct fake_call *c = &f->call[f->n_calls % CALLS];

	*place = f->n_calls++;
	f->count[verb]++;
	*c = (struct fake_call){
		.verb = verb, .n = n, .begin = dlk_now(), .deadline = deadline
	};
	if (t) {
		c->id = t->id;
		if (verb == FAKE_RELEASE || verb == FAKE_RELEASE_ALL ||
		    verb == FAKE_SEND)
			c->token_used = t->token_used;
		memcpy(c->owner, t->request.owner, sizeof(c->owner));
	}
}

static struct fake_step take_step(struct fake *f, enum fake_verb verb)
{
	struct fake_step *s = f->step[verb];
	struct fake_step step = { 0 };

	if (f->n_steps[verb] == 0)
		return step;
	step = *s;
	if (s->times == FAKE_ALWAYS || --s->times > 0)
		return step;
	f->n_steps[verb]--;
	memmove(s, s + 1, f->n_steps[verb] * sizeof(*s));
	return step;
}

/* The deadline of a last request may have passed already, but not by far. */
static void check_call(const struct session *s, enum fake_verb verb,
		       dlk_time deadline)
{
	dlk_time now = dlk_now();

	if (s->closed)
		fakei_complain("verb %d was called after close", (int)verb);
	if (deadline < now - 60000 * MS || deadline > now + 660000 * MS)
		fakei_complain("verb %d has no sane deadline: %lld ms from now",
			       (int)verb,
			       (long long)((deadline / MS) - (now / MS)));
}

/* Waits for `until`, for fake_open_gate() or for fake_clear(); unless
 * `stubborn`, also for a cancel. */
static void sleep_until(dlk_time until, const uint64_t *count, int stubborn)
{
	uint64_t seen = count ? *count : 0;

	while (dlk_now() < (stubborn ? until : dlk_deadline(until)) &&
	       !(count && *count != seen)) {
		int64_t left = until - dlk_now();
		struct timespec ts;

		if (left > 20 * MS)
			left = 20 * MS;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		left += ts.tv_nsec;
		ts.tv_sec += left / 1000000000;
		ts.tv_nsec = left % 1000000000;
		pthread_cond_timedwait(&fakei_changed, &fakei_mu, &ts);
	}
}

struct fake_step fakei_begin(struct session *s, enum fake_verb verb,
			     const struct dlk_ticket *t, size_t n,
			     dlk_time deadline, size_t *place)
{
	struct fake *f = s->fake;
	struct fake_step step;

	pthread_mutex_lock(&fakei_mu);
	if (getpid() != fakei_home)
		__atomic_fetch_add(fakei_in_child, 1, __ATOMIC_RELAXED);
	check_call(s, verb, deadline);
	/* These calls hang if the core holds the client's mutex. */
	dlk_wake(&s->base, 0);
	dlk_lost(&s->base, UINT64_MAX, "nobody");
	log_call(f, verb, t, n, deadline, place);
	step = take_step(f, verb);
	if (step.says)
		dlk_log(&s->base, 1, "%s", step.says);
	return step;
}

void fakei_end(struct session *s, size_t place)
{
	s->fake->call[place % CALLS].end = dlk_now();
	pthread_mutex_unlock(&fakei_mu);
}

static int unreachable(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE, "fake: no answer (scripted)");
}

int fakei_travel(struct session *s, const struct fake_step *step,
		 dlk_time deadline, struct dlk_error *err)
{
	struct fake *f = s->fake;
	dlk_time there = dlk_now() + step->delay_ms * MS;

	if (step->gate)
		sleep_until(step->overrun ? DLK_FOREVER : deadline, &f->gate,
			    step->overrun);
	if (step->delay_ms > 0)
		sleep_until(there < deadline || step->overrun ? there :
								deadline,
			    NULL, step->overrun);
	fakei_catch_up(f);
	if (!step->overrun && (step->gate || step->delay_ms > 0) &&
	    dlk_now() >= dlk_deadline(deadline)) {
		unreachable(err);
		return step->delay_ms > 0 ? 0 : DLOCK_EUNREACHABLE;
	}
	switch (step->fault) {
	case FAKE_SILENT:
		sleep_until(deadline, &f->cleared, 0);
		return unreachable(err);
	case FAKE_REFUSE:
		return unreachable(err);
	case FAKE_CODE:
		return step->code ?
			       dlk_fail(err, step->code, "fake: scripted") :
			       -1000;
	case FAKE_CUT:
	case FAKE_LATE:
		unreachable(err);
		return 0;
	default:
		return 1;
	}
}

int fakei_is_late(const struct fake_step *step)
{
	return step->fault == FAKE_LATE || step->delay_ms > 0;
}

void fakei_seize(struct ticket *t)
{
	if (t->busy)
		fakei_complain("two calls at once for ticket %llx",
			       (unsigned long long)t->base.id);
	t->busy = 1;
}

struct entry fakei_claim_of(const struct ticket *t)
{
	const struct session *s = (const struct session *)t->base.session;
	const struct dlk_request *c = &t->base.request;
	struct entry e = {
		.fake = s->fake,
		.kind = c->kind,
		.mode = c->mode,
		.limit = c->limit,
		.session = t->base.session,
		.id = t->base.id,
	};

	snprintf(e.key, sizeof(e.key), "%s", c->key);
	snprintf(e.owner, sizeof(e.owner), "%s", c->owner);
	snprintf(e.beside, sizeof(e.beside), "%s", c->beside ? c->beside : "");
	snprintf(e.label, sizeof(e.label), "%s", c->label);
	return e;
}

void fakei_do_late(const struct ticket *t, enum fake_verb verb,
		   const struct fake_step *step)
{
	struct session *s = (struct session *)t->base.session;
	struct fake *f = s->fake;
	struct late *l = &f->late[f->n_late];

	if (f->n_late == LATES)
		return;
	f->n_late++;
	l->at = dlk_now() + step->late_ms * MS;
	if (step->delay_ms > 0)
		l->at = dlk_now() + step->delay_ms * MS;
	l->verb = verb;
	l->claim = fakei_claim_of(t);
	l->claim.session = NULL;
	l->lease_ms = s->base.ttl_ms;
	snprintf(l->name, sizeof(l->name), "%s", t->base.request.name);
}
