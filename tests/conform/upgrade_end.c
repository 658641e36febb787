/* SPDX-License-Identifier: Apache-2.0 */
/* An upgrade is renewed, and ends with the process, the client or a break. */
#include "conform/cases.h"
#include "conform/worker.h"

void case_upgrade_is_renewed(struct conform *t)
{
	dlock_hold *r, *w;
	struct worker *p;
	dlock_lock *upg;

	use_short_lease(t);
	use_rwlock(t);
	p = join_with(t, OTHER_CLIENT, SHORT_LEASE);
	upg = upgradeable(t, t->lock);
	r = take(upg);
	w = upgrade(upg, r);
	CHECK_INT(ask(p, READ, 2000).rc, ==, DLOCK_EBUSY);
	CHECK_OK(dlock_check(w));
	CHECK_OK(dlock_check(r));
	give(w);
	CHECK_INT(ask(p, ACQUIRE, 2000).rc, ==, DLOCK_EBUSY);
	CHECK_OK(dlock_check(r));
	give(r);
}

static struct worker *mortal(struct conform *t)
{
	struct worker *p;

	needs_other_processes(t);
	use_short_lease(t);
	use_rwlock(t);
	p = join_with(t, OTHER_PROCESS, SHORT_LEASE);
	ASK_OK(p, UPGRADEABLE, patience_ms());
	return p;
}

void case_upgrade_death(struct conform *t)
{
	struct worker *p = mortal(t);
	struct worker *heir = join(t, OTHER_CLIENT);
	struct reply was = ask(p, UPGRADE, patience_ms()), next;
	int64_t begun;

	CHECK_INT(was.rc, ==, DLOCK_OK);
	tell(heir, ACQUIRE, -1);
	await_waiters(t, 1);
	bury(t, p);
	begun = now_ms();
	next = hear(heir);
	CHECK_INT(next.rc, ==, DLOCK_OK);
	CHECK_WITHIN(now_ms() - begun, promised_ms(t));
	CHECK(next.token > was.token || was.token == 0);
	ASK_OK(heir, RELEASE, 0);
	give(take(upgradeable(t, t->lock)));
}

/* The process dies while the upgrade waits. */
void case_upgrade_death_of_waiter(struct conform *t)
{
	struct worker *p = mortal(t);
	struct worker *reader = join(t, OTHER_CLIENT);
	int64_t begun;

	ASK_OK(reader, READ, patience_ms());
	tell(p, UPGRADE, -1);
	await_waiters(t, 1);
	bury(t, p);
	begun = now_ms();
	give(take_shared(t->lock));
	CHECK_WITHIN(now_ms() - begun, promised_ms(t));
	ASK_OK(reader, RELEASE, 0);
	give(take(upgradeable(t, t->lock)));
	give(take(t->lock));
}

void case_upgrade_broken(struct conform *t)
{
	dlock_hold *none = NULL, *r, *w;
	dlock_lock *upg;
	uint64_t token;

	needs_break(t);
	use_short_lease(t);
	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	r = take(upg);
	w = upgrade(upg, r);
	token = dlock_token(w);
	CHECK_OK(dlock_break(t->lock, patience_ms()));
	EVENTUALLY(dlock_check(w) == DLOCK_ELOST);
	EVENTUALLY(dlock_check(r) == DLOCK_ELOST);
	CHECK_RC(release(w), DLOCK_ELOST);
	CHECK_RC(dlock_upgrade(upg, r, patience_ms(), &none), DLOCK_ELOST);
	CHECK_RC(release(r), DLOCK_ELOST);
	w = take(t->lock);
	CHECK(dlock_token(w) > token || token == 0);
	give(w);
	is_free(upg);
}

void case_upgrade_at_close(struct conform *t)
{
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_hold *r, *w;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, handle(t, c));
	r = take(upg);
	w = upgrade(upg, r);
	close_client(t, c);
	CHECK_RC(dlock_release(r), DLOCK_ELOST);
	CHECK_RC(dlock_release(w), DLOCK_ELOST);
	give(take(t->lock));
	give(take(upgradeable(t, t->lock)));
}

struct seen {
	int readers, writers, waiters;
};

static void note(const struct dlock_participant *p, void *arg)
{
	struct seen *s = arg;

	if (p->waiting)
		s->waiters++;
	else if (p->shared)
		s->readers++;
	else
		s->writers++;
}

static struct seen look(struct conform *t)
{
	struct seen s = { 0 };

	CHECK_OK(dlock_inspect(t->lock, note, &s, patience_ms()));
	return s;
}

void case_upgrade_inspect(struct conform *t)
{
	dlock_hold *r, *w;
	struct seen s;
	dlock_lock *upg;

	use_rwlock(t);
	upg = upgradeable(t, t->lock);
	r = take(upg);
	s = look(t);
	CHECK_INT(s.readers, ==, 1);
	w = upgrade(upg, r);
	s = look(t);
	CHECK_INT(s.writers, ==, 1);
	CHECK_INT(s.waiters, ==, 0);
	give(w);
	s = look(t);
	CHECK_INT(s.readers, ==, 1);
	CHECK_INT(s.writers, ==, 0);
	give(r);
	s = look(t);
	CHECK_INT(s.readers + s.writers + s.waiters, ==, 0);
}
