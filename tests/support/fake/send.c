/* SPDX-License-Identifier: Apache-2.0 */
/* Sent releases, which are answered later; and calls without a wait. */
#include "fake/store.h"

void fakei_answer(struct session *s)
{
	for (size_t i = 0; i < s->n_owed; i++)
		dlk_released(&s->base, s->owed[i].id, s->owed[i].rc);
	s->n_owed = 0;
}

static int stands(struct session *s, const struct ticket *t)
{
	struct entry *e = *fakei_find(s->fake, t->base.request.key,
				      t->base.request.owner);

	return e && e->granted && e->until > dlk_now();
}

/* The request has arrived, in time or later. */
static int carry_out(struct session *s, struct ticket *t,
		     const struct fake_step *step, int heard)
{
	int rc = stands(s, t) ? 0 : DLOCK_ELOST;

	if (step->answer)
		return step->answer;
	if (!heard && fakei_is_late(step))
		fakei_do_late(t, FAKE_RELEASE, step);
	else
		fakei_give_back(s, t);
	return rc;
}

int fakei_release_begin(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_SEND, base, 1, deadline, &place);
	fakei_seize(t);
	if (!t->granted)
		fakei_complain("a release was sent of what was not granted");
	rc = fakei_travel(s, &step, deadline, err);
	if (rc >= 0) {
		struct owed answer = { base->id, carry_out(s, t, &step, rc) };

		if (rc == 1 && s->n_owed < OWED)
			s->owed[s->n_owed++] = answer;
		if (step.early)
			fakei_answer(s);
		rc = DLK_SENT;
	}
	fakei_forget(s, t);
	fakei_end(s, place);
	return rc;
}

/* ---- Calls without a wait ------------------------------------------------ */

static void hear_of(struct session *s, struct ticket *t)
{
	struct entry claim = fakei_claim_of(t);
	dlk_time first_end;

	s->asked += !t->asked;
	t->asked = t->sent = 1;
	(void)fakei_ask(&claim, t->base.request.name, s->base.ttl_ms,
			&first_end);
}

int fakei_put_off(struct dlk_ticket *base, int attempt, dlk_time deadline)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	int was_put_off = t->later;
	size_t place;

	t->later = 0;
	if (!base->no_wait || was_put_off)
		return 0;
	(void)fakei_begin(s, FAKE_LATER, base, attempt != 0, deadline, &place);
	if (!s->base.backend->answers_later)
		fakei_complain("a call is not to wait for a store that cannot");
	if (attempt)
		hear_of(s, t);
	t->later = 1;
	if (s->base.attendant)
		dlk_go_on(&s->base, base->id);
	fakei_end(s, place);
	return 1;
}
