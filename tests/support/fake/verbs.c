/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs for claims. */
#include "fake/store.h"

int fakei_open(struct dlk_session *base, dlk_time deadline,
	       struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	const struct dlk_uri *uri = base->uri;
	struct fake_step step;
	size_t place;
	int rc;

	if (s->fake)
		fakei_complain("opened with a session that is not fresh");
	s->fake = fake_store(uri->n_hosts > 0 ? uri->hosts[0].name : "");
	step = fakei_begin(s, FAKE_OPEN, NULL, 0, deadline, &place);
	rc = fakei_travel(s, &step, deadline, err);
	if (!dlk_param_given(uri, "ttl"))
		base->ttl_ms = 0;
	if (dlk_param_given(uri, "agreed"))
		base->ttl_ms = dlk_param_int(uri, "agreed");
	base->check_ms = dlk_param_int(uri, "check");
	base->margin_ms = dlk_param_int(uri, "margin");
	base->caps &= ~(uint32_t)dlk_param_int(uri, "without");
	s->wakes = dlk_param_int(uri, "wake") != 0;
	s->far = dlk_param_int(uri, "far") != 0;
	if (s->far && rc == 1)
		dlk_answered(base, dlk_now() - step.delay_ms * MS, dlk_now());
	if (!s->wakes)
		base->caps &= ~(uint32_t)DLOCK_CAP_WAKE;
	if (rc == 1) {
		s->next = s->fake->sessions;
		s->fake->sessions = s;
	}
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}

void fakei_close(struct dlk_session *base, dlk_time deadline)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	struct session **p;
	size_t place;

	step = fakei_begin(s, FAKE_CLOSE, NULL, 0, deadline, &place);
	fakei_travel(s, &step, deadline, NULL);
	if (s->asked > 0)
		fakei_complain("closed with %u tickets that were not released",
			       s->asked);
	s->closed = 1;
	for (p = &s->fake->sessions; *p != s;)
		p = &(*p)->next;
	*p = s->next;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry *e = fakei_table[i]; e; e = e->next) {
			if (e->session == base)
				e->session = NULL;
		}
	}
	fakei_end(s, place);
}

static void grant(struct ticket *t, const struct fake_step *step,
		  uint64_t token)
{
	struct session *s = (struct session *)t->base.session;

	t->base.token = token;
	t->granted = 1;
	t->base.since -= step->since_ms * MS;
	if (step->lease_ms > 0)
		t->base.lease_ms = step->lease_ms;
	t->end = s->base.ttl_ms > 0 ? t->base.since + t->base.lease_ms * MS :
				      DLK_FOREVER;
	if (step->lose)
		dlk_lost(&s->base, t->base.id, "lost before it was told");
}

static enum dlk_verdict answer(struct ticket *t, const struct fake_step *step,
			       int heard, struct dlk_error *err)
{
	struct session *s = (struct session *)t->base.session;
	struct entry claim = fakei_claim_of(t);
	int64_t lease_ms = step->lease_ms ? step->lease_ms : s->base.ttl_ms;
	dlk_time first_end;
	const struct entry *e = fakei_ask(&claim, t->base.request.name,
					  lease_ms, &first_end);

	if (!e && heard)
		dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (e && !e->granted)
		fakei_tell_wanted(e);
	if (!e || !heard)
		return DLK_FAILED;
	if (e->granted) {
		grant(t, step, e->token);
		return DLK_GRANTED;
	}
	if (s->wakes && first_end != DLK_FOREVER)
		t->base.look_again = first_end;
	if (!s->wakes)
		fakei_give_up(s->fake, claim.key, claim.owner);
	return DLK_BUSY;
}

enum dlk_verdict fakei_attempt(struct dlk_ticket *base, dlk_time deadline,
			       struct dlk_error *err)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	enum dlk_verdict verdict = DLK_FAILED;
	struct fake_step step;
	size_t place;
	int rc;

	if (fakei_put_off(base, 1, deadline))
		return DLK_LATER;
	step = fakei_begin(s, FAKE_ATTEMPT, base, 1, deadline, &place);
	fakei_answer(s);
	fakei_seize(t);
	if (!t->asked)
		s->asked++;
	t->asked = 1;
	t->sent |= !step.unsent;
	base->settled = step.unsent;
	base->overtime = step.overtime_ms * MS;
	base->resent = step.resent;
	rc = fakei_travel(s, &step, deadline, err);
	if (s->far && rc == 1)
		dlk_answered(&s->base, dlk_now() - step.delay_ms * MS,
			     dlk_now());
	if (step.resent || (rc == 0 && fakei_is_late(&step)))
		fakei_do_late(t, FAKE_ATTEMPT, &step);
	if (rc == 0 && fakei_is_late(&step))
		verdict = DLK_FAILED;
	else if (rc == 1 && step.fault == FAKE_BUSY)
		verdict = DLK_BUSY;
	else if (rc >= 0)
		verdict = answer(t, &step, rc, err);
	if (verdict == DLK_BUSY && step.look_ms != 0)
		base->look_again = dlk_now() + step.look_ms * MS;
	t->busy = 0;
	fakei_end(s, place);
	return verdict;
}

static enum dlk_renewal renew_one(struct session *s, struct ticket *t,
				  const struct fake_step *step, int heard)
{
	struct entry *e = *fakei_find(s->fake, t->base.request.key,
				      t->base.request.owner);
	int gone = !e || !e->granted || e->until <= dlk_now();

	if (!gone)
		e->until = fakei_end_of(step->lease_ms ? step->lease_ms :
							 s->base.ttl_ms);
	if (!heard)
		return DLK_UNKNOWN;
	if (step->fault == FAKE_SAY && step->verdict != DLK_RENEWED) {
		t->over |= step->verdict == DLK_GONE;
		return step->verdict;
	}
	if (gone && step->fault != FAKE_SAY) {
		t->over = 1;
		return DLK_GONE;
	}
	grant(t, step, t->base.token);
	if (step->fault == FAKE_SAY || s->base.ttl_ms > 0)
		return DLK_RENEWED;
	return DLK_STANDS;
}

void fakei_renew(struct dlk_session *base, struct dlk_ticket *const v[],
		 enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		 struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_RENEW, v[0], n, deadline, &place);
	if (s->renewing)
		fakei_complain("two renew() at once");
	s->renewing = 1;
	for (size_t i = 0; i < n; i++) {
		struct ticket *t = (struct ticket *)v[i];

		fakei_seize(t);
		if (t->over || !t->asked)
			fakei_complain("renewed what was lost or released");
		/* As the core chose: the thread may have stalled since. */
		if (t->end < t->base.since - 200 * MS)
			fakei_complain("renewed %lld us after the lease's end",
				       (long long)(t->base.since - t->end) /
					       1000);
	}
	rc = fakei_travel(s, &step, deadline, err);
	for (size_t i = 0; i < n; i++) {
		if (step.part > 0 && i >= step.part)
			verdict[i] = DLK_PENDING;
		else if (rc >= 0)
			verdict[i] = renew_one(s, (struct ticket *)v[i], &step,
					       rc);
	}
	for (size_t i = 0; i < n; i++)
		((struct ticket *)v[i])->busy = 0;
	s->renewing = 0;
	fakei_end(s, place);
}

void fakei_forget(struct session *s, struct ticket *t)
{
	if (t->asked)
		s->asked--;
	t->asked = 0;
	t->granted = 0;
	t->over = 1;
	t->busy = 0;
}

void fakei_give_back(struct session *s, const struct ticket *t)
{
	fakei_tokens_used(t);
	fakei_give_up(s->fake, t->base.request.key, t->base.request.owner);
}

int fakei_release(struct dlk_ticket *base, dlk_time deadline,
		  struct dlk_error *err)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	struct fake_step step;
	size_t place;
	int rc;

	if (fakei_put_off(base, 0, deadline))
		return DLK_LATER;
	step = fakei_begin(s, FAKE_RELEASE, base, 1, deadline, &place);
	fakei_seize(t);
	rc = t->sent ? fakei_travel(s, &step, deadline, err) : 1;
	if (s->far && t->sent && rc == 1)
		dlk_answered(&s->base, dlk_now() - step.delay_ms * MS,
			     dlk_now());
	if (rc == 0 && fakei_is_late(&step))
		fakei_do_late(t, FAKE_RELEASE, &step);
	else if (rc >= 0)
		fakei_give_back(s, t);
	fakei_forget(s, t);
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}

void fakei_release_all(struct dlk_session *base, struct dlk_ticket *const v[],
		       size_t n, dlk_time deadline)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_RELEASE_ALL, v[0], n, deadline, &place);
	for (size_t i = 0; i < n; i++)
		fakei_seize((struct ticket *)v[i]);
	rc = fakei_travel(s, &step, deadline, NULL);
	for (size_t i = 0; i < n; i++) {
		if (rc >= 0)
			fakei_give_back(s, (struct ticket *)v[i]);
		fakei_forget(s, (struct ticket *)v[i]);
	}
	fakei_end(s, place);
}

int fakei_downgrade(struct dlk_ticket *base, dlk_time deadline,
		    struct dlk_error *err)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	struct fake_step step;
	struct entry *e;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_DOWNGRADE, base, 1, deadline, &place);
	fakei_seize(t);
	if (t->over)
		fakei_complain("downgraded what was lost or released");
	rc = fakei_travel(s, &step, deadline, err);
	e = *fakei_find(s->fake, base->request.key, base->request.owner);
	if (rc >= 0 && e) {
		e->mode = DLK_SHARED;
		if (rc == 1)
			base->request.mode = DLK_SHARED;
		fakei_wake_line(s->fake, base->request.key);
	} else if (rc >= 0) {
		rc = dlk_fail(err, DLOCK_ELOST, "fake: the claim is gone");
	}
	t->busy = 0;
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}
