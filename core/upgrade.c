/* SPDX-License-Identifier: Apache-2.0 */
#include "core/upgrade.h"

#include <stdio.h>
#include <string.h>

#include "core/acquire.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/name.h"
#include "core/multi_hold.h"
#include "core/reenter.h"
#include "core/release.h"

#define MARK "%u:" /* before the name of the lock: the gate's */

/* ---- The handle ---------------------------------------------------------- */

static int check_rwlock(dlock_lock **out, const dlock_lock *rwlock,
			struct dlk_error *err)
{
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!rwlock)
		return dlk_fail(err, DLOCK_EINVAL, "rwlock is NULL");
	if (!rwlock->has_read_side)
		return dlk_fail(err, DLOCK_EINVAL,
				"only a read-write lock has an upgradeable "
				"read side");
	if (dlki_client_ours(rwlock->record->client, err) != 0)
		return err->code;
	return dlki_lock_needs(rwlock->record->client, DLOCK_CAP_UPGRADE,
			       "upgradeable read side", err);
}

static int gate_new(dlock_lock **out, const dlock_lock *rwlock,
		    struct dlk_error *err)
{
	const struct dlki_record *r = rwlock->record;
	char bytes[sizeof(MARK) + DLOCK_NAME_SIZE], name[DLOCK_NAME_SIZE];
	int n = snprintf(bytes, sizeof(bytes), "%s%s", MARK, r->name);
	int rc = dlki_name_make(name, bytes, (size_t)n, err);

	if (rc >= 0)
		rc = dlki_mutex_new(out, r->client, name, err);
	if (rc == 0)
		(*out)->unbound = rwlock->unbound;
	return rc;
}

static int upgradeable_new(dlock_lock **out, dlock_lock *rwlock,
			   struct dlk_error *err)
{
	dlock_lock *member[2] = { NULL, NULL };
	int rc = check_rwlock(out, rwlock, err);

	if (rc != 0)
		return rc;
	rc = dlki_lock_clone(&member[DLKI_UPGRADEABLE_READ], rwlock, err);
	if (rc == 0) {
		member[DLKI_UPGRADEABLE_READ]->reads = 1;
		rc = gate_new(&member[DLKI_UPGRADEABLE_GATE], rwlock, err);
	}
	if (rc == 0)
		rc = dlki_multi_new(out, member, 2, err);
	if (rc == 0)
		(*out)->multi->upgradeable = 1;
	for (size_t i = 0; i < 2; i++) {
		if (member[i])
			dlki_lock_free(member[i]);
	}
	return rc;
}

int dlock_upgradeable_new(dlock_lock **out, dlock_lock *rwlock)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, upgradeable_new(out, rwlock, &s.err));
}

int dlki_upgradeable_check(const struct dlki_multi *multi,
			   struct dlk_error *err)
{
	const struct dlki_record *r, *gate;
	const struct dlki_claim *held;
	int rc;

	if (!multi->upgradeable ||
	    dlki_multi_lock(multi, DLKI_UPGRADEABLE_READ)->unbound)
		return 0;
	r = dlki_multi_lock(multi, DLKI_UPGRADEABLE_READ)->record;
	gate = dlki_multi_lock(multi, DLKI_UPGRADEABLE_GATE)->record;
	rc = dlki_client_ours(r->client, err);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&r->client->mu);
	held = dlki_claim_of_thread(r, DLK_SHARED);
	if (held && held->state == DLKI_HELD &&
	    !dlki_claim_of_thread(gate, DLK_EXCLUSIVE))
		rc = dlk_fail(err, DLOCK_EDEADLK,
			      "lock '%s': this thread holds it already, and "
			      "not by the upgradeable read side; release it "
			      "first",
			      r->name);
	pthread_mutex_unlock(&r->client->mu);
	return rc;
}

/* ---- The upgrade --------------------------------------------------------- */

int dlki_upgrade_check(const dlock_lock *lock, const dlock_hold *hold,
		       struct dlki_claim **read, struct dlk_error *err)
{
	const struct dlki_record *r;

	if (!lock || !dlki_lock_is_multi(lock) || !lock->multi->upgradeable)
		return dlk_fail(err, DLOCK_EINVAL,
				"lock is not of dlock_upgradeable_new()");
	r = dlki_upgrade_lock(lock)->record;
	if (!hold || !dlki_hold_multi(hold) ||
	    !dlki_hold_multi(hold)->upgradeable)
		return dlk_fail(err, DLOCK_EINVAL,
				"the hold is not of an upgradeable read side");
	*read = dlki_hold_claim(dlki_multi_member(hold, DLKI_UPGRADEABLE_READ));
	if ((*read)->record != r)
		return dlk_fail(err, DLOCK_EINVAL,
				"the hold is not of lock '%s'", r->name);
	if (dlki_client_ours(r->client, err) != 0)
		return err->code;
	if ((*read)->thread != DLKI_NO_THREAD &&
	    (*read)->thread != dlki_thread_serial())
		return dlk_fail(err, DLOCK_EINVAL,
				"lock '%s' is held by another thread, and only "
				"that thread may upgrade it, unless the handle "
				"was unbound (dlock_lock_unbind)",
				r->name);
	return dlki_claim_check_upgradeable(*read, dlki_upgrade_gate(hold),
					    err);
}

dlock_lock *dlki_upgrade_lock(const dlock_lock *lock)
{
	return dlki_multi_lock(lock->multi, DLKI_UPGRADEABLE_READ);
}

struct dlki_claim *dlki_upgrade_gate(const dlock_hold *hold)
{
	return dlki_hold_claim(dlki_multi_member(hold, DLKI_UPGRADEABLE_GATE));
}

int dlki_upgrade_over(const struct dlki_wait *wait, struct dlki_claim *gate,
		      int rc, dlock_hold **writes, struct dlk_error *err)
{
	struct dlki_claim *read = wait->beside;
	int64_t ask_ms = dlki_ask_ms(&read->client->ask);
	struct dlk_error ignored = { 0 }, lost;

	if ((rc != 0 && rc != DLOCK_EBUSY) ||
	    dlki_claim_check_upgradeable(read, gate, &lost) == 0)
		return rc;
	if (rc == 0)
		(void)dlki_release(*writes,
				   dlki_after_ms(wait->deadline, ask_ms),
				   &ignored);
	*writes = NULL;
	*err = lost;
	return err->code;
}

/* With the release of the hold refused. */
static int acquire(dlock_lock *lock, const dlock_hold *hold,
		   struct dlki_wait *w, dlock_hold **out, struct dlk_error *err)
{
	struct dlock_client *c = w->beside->client;
	int rc;

	pthread_mutex_lock(&c->mu);
	dlki_claim_begin_upgrades(w->beside);
	pthread_mutex_unlock(&c->mu);
	rc = dlki_acquire_wait(dlki_upgrade_lock(lock), DLK_EXCLUSIVE, w, out,
			       err);
	rc = dlki_upgrade_over(w, dlki_upgrade_gate(hold), rc, out, err);
	pthread_mutex_lock(&c->mu);
	w->beside->upgrade_calls--;
	dlki_claim_end_upgrades(w->beside);
	pthread_mutex_unlock(&c->mu);
	return rc;
}

static int upgrade(dlock_lock *lock, dlock_hold *hold, int64_t timeout_ms,
		   dlock_hold **out, struct dlk_error *err)
{
	dlock_hold *writes = NULL;
	struct dlki_claim *read;
	struct dlki_wait w;
	int rc = out ? 0 : dlk_fail(err, DLOCK_EINVAL, "out is NULL");

	if (rc == 0)
		rc = dlki_upgrade_check(lock, hold, &read, err);
	if (rc == 0)
		rc = dlki_timeout_check(timeout_ms, err);
	if (rc != 0)
		return rc;
	w = dlki_wait_new(lock, timeout_ms);
	w.terms = read->terms;
	w.beside = read;
	rc = dlki_wait_begin(&w, err);
	if (rc == 0)
		rc = acquire(lock, hold, &w, &writes, err);
	if (rc == 0)
		*out = writes;
	return rc;
}

int dlock_upgrade(dlock_lock *lock, dlock_hold *upgradeable, int64_t timeout_ms,
		  dlock_hold **out)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, upgrade(lock, upgradeable, timeout_ms, out,
					   &s.err));
}
