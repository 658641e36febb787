/* SPDX-License-Identifier: Apache-2.0 */
/* Watches, and the range of tokens for the next holds. */
#include "fake/store.h"

#define TOKENS 1000

void fakei_tell_wanted(const struct entry *asker)
{
	struct fake *f = asker->fake;

	for (struct entry *e = *fakei_bucket(f, asker->key); e; e = e->next) {
		if (!fakei_same(e, f, asker->key) || !e->watched ||
		    e->session == asker->session || f->tells_no_wants)
			continue;
		dlk_wanted(e->session, e->id);
	}
}

static int others_ask(const struct entry *holder)
{
	const struct fake *f = holder->fake;

	for (struct entry *e = *fakei_bucket(f, holder->key); e; e = e->next) {
		if (fakei_same(e, f, holder->key) &&
		    e->session != holder->session)
			return 1;
	}
	return 0;
}

static void check_watch(const struct ticket *t)
{
	if (!t->granted || t->over)
		fakei_complain("watched what was not granted");
	if (t->base.request.mode != DLK_EXCLUSIVE ||
	    t->base.request.kind != DLK_LOCK)
		fakei_complain("watched what is no mutex and no write side");
}

/* The tokens are set aside even without an answer. */
static int watch(struct ticket *t, const struct fake_step *step, int heard,
		 struct dlk_error *err)
{
	struct session *s = (struct session *)t->base.session;
	struct entry *e = *fakei_find(s->fake, t->base.request.key,
				      t->base.request.owner);

	if (!e || !e->granted || e->until <= dlk_now())
		return dlk_fail(err, DLOCK_ELOST, "fake: the claim is gone");
	e->watched = 1;
	fakei_set_tokens_aside(e, step->tokens < 0 ? 0 :
				  step->tokens > 0 ? (uint64_t)step->tokens :
						     TOKENS);
	if (!heard)
		return DLOCK_EUNREACHABLE;
	t->base.token_last = t->token_end = e->token_end;
	return step->wanted || others_ask(e);
}

int fakei_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err)
{
	struct session *s = (struct session *)base->session;
	struct ticket *t = (struct ticket *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_WATCH, base, 1, deadline, &place);
	fakei_seize(t);
	check_watch(t);
	rc = fakei_travel(s, &step, deadline, err);
	if (rc >= 0)
		rc = watch(t, &step, rc, err);
	t->busy = 0;
	fakei_end(s, place);
	return rc;
}

int fakei_revoke(struct dlk_session *base, const struct dlk_request *request,
		 dlk_time deadline, struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	struct fake_step step;
	size_t place;
	int rc;

	step = fakei_begin(s, FAKE_REVOKE, NULL, 0, deadline, &place);
	rc = fakei_travel(s, &step, deadline, err);
	for (struct entry *e = *fakei_bucket(s->fake, request->key);
	     e && rc >= 0; e = e->next) {
		if (fakei_same(e, s->fake, request->key) && e->watched)
			dlk_wanted(e->session, e->id);
	}
	fakei_end(s, place);
	return rc == 1 ? 0 : rc == 0 ? DLOCK_EUNREACHABLE : rc;
}

void fakei_tokens_used(const struct ticket *t)
{
	const struct session *s = (const struct session *)t->base.session;
	uint64_t used = t->base.token_used;
	struct entry *e = *fakei_find(s->fake, t->base.request.key,
				      t->base.request.owner);

	if (used != 0 && (used <= t->base.token || used > t->token_end))
		fakei_complain("token %llu was used, of %llu to %llu",
			       (unsigned long long)used,
			       (unsigned long long)t->base.token + 1,
			       (unsigned long long)t->token_end);
	if (e && e->watched && e->granted)
		fakei_take_tokens_back(e, used);
}
