/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions for a lock or a multi-lock, and for a hold of either:
 * arguments, the scope of the call, and which of the two it is.
 */
#include <stdlib.h>

#include "core/acquire.h"
#include "core/base/error.h"
#include "core/multi.h"
#include "core/multi_acquire.h"
#include "core/multi_hold.h"
#include "core/permits.h"
#include "core/release.h"
#include "core/upgrade.h"

/* ---- Locks --------------------------------------------------------------- */

void dlock_lock_free(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();

	if (lock && dlki_lock_is_multi(lock)) {
		dlki_multi_free(lock->multi);
		free(lock);
	} else if (lock) {
		dlki_lock_free(lock);
	}
	dlki_leave(&s);
}

void dlock_cancel(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();

	if (lock && dlki_lock_is_multi(lock))
		dlki_multi_cancel(lock);
	else if (lock)
		dlki_lock_cancel(lock);
	dlki_leave(&s);
}

/* ---- Acquire and release ------------------------------------------------- */

static int check_acquire(const dlock_lock *lock, const dlock_acquire_options *o,
			 dlock_hold **out, struct dlk_error *err)
{
	int rc = dlki_lock_check(lock, o->shared, err);

	if (rc == 0 && !out)
		rc = dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	return rc == 0 ? dlki_timeout_check(o->timeout_ms, err) : rc;
}

static int acquire(dlock_lock *lock, const dlock_acquire_options *o,
		   const struct dlki_terms *terms, dlock_hold **out,
		   struct dlk_error *err)
{
	struct dlki_wait w;
	int rc = check_acquire(lock, o, out, err);

	if (rc == 0)
		rc = dlki_permits_check(lock, o->permits, err);
	if (rc != 0)
		return rc;
	w = dlki_wait_new(lock, o->timeout_ms);
	w.terms = terms;
	w.permits = o->permits;
	rc = dlki_wait_begin(&w, err);
	if (rc == 0 && dlki_lock_is_multi(lock))
		rc = dlki_upgradeable_check(lock->multi, err);
	if (rc != 0)
		return rc;
	if (dlki_lock_is_multi(lock))
		return dlki_multi_acquire(lock, &w, out, err);
	rc = dlki_terms_check(terms, lock->record->client->schedule.ttl_ms,
			      err);
	if (rc != 0)
		return rc;
	return dlki_acquire_wait(lock,
				 o->shared ? DLK_SHARED : dlki_lock_mode(lock),
				 &w, out, err);
}

static int public_acquire(dlock_lock *lock, const dlock_acquire_options *o,
			  dlock_hold **out)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, acquire(lock, o, NULL, out, &s.err));
}

int dlock_acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	return public_acquire(lock, &o, out);
}

int dlock_acquire_shared(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	o.shared = 1;
	return public_acquire(lock, &o, out);
}

int dlock_acquire_opts(dlock_lock *lock, const dlock_acquire_options *opts,
		       dlock_hold **out)
{
	struct dlki_scope s = dlki_enter();
	struct dlki_terms *terms = NULL;
	dlock_acquire_options o;
	int rc = dlki_acquire_options(&o, opts, &s.err);

	if (rc == 0)
		rc = dlki_terms_new(&terms, &o, &s.err);
	if (rc == 0)
		rc = acquire(lock, &o, terms, out, &s.err);
	free(terms);
	return dlki_leave_with(&s, rc);
}

int dlock_release(dlock_hold *hold)
{
	struct dlki_scope s = dlki_enter();
	int rc;

	if (!hold)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "hold is NULL");
	else if (dlki_hold_multi(hold))
		rc = dlki_multi_release(hold, &s.err);
	else
		rc = dlki_release(hold, DLK_FOREVER, &s.err);
	return dlki_leave_with(&s, rc);
}

/* ---- Questions about a hold ---------------------------------------------- */

int dlock_check(const dlock_hold *hold)
{
	if (!hold)
		return DLOCK_EINVAL;
	return dlki_hold_multi(hold) ? dlki_multi_check(hold) :
				       dlki_claim_check(dlki_hold_claim(hold));
}

static int64_t least_ms(const dlock_hold *hold,
			int64_t (*ask)(struct dlki_claim *claim))
{
	if (!hold)
		return 0;
	return dlki_hold_multi(hold) ? dlki_multi_least_ms(hold, ask) :
				       ask(dlki_hold_claim(hold));
}

int64_t dlock_remaining_ms(const dlock_hold *hold)
{
	return least_ms(hold, dlki_claim_remaining_ms);
}

int64_t dlock_warning_ms(const dlock_hold *hold)
{
	struct dlki_scope s = dlki_enter();
	int64_t left_ms = least_ms(hold, dlki_claim_warning_ms);

	dlki_leave(&s);
	return left_ms;
}

uint64_t dlock_token(const dlock_hold *hold)
{
	const dlock_hold *one = hold;

	if (hold && dlki_hold_multi(hold) && dlki_hold_multi(hold)->upgradeable)
		one = dlki_multi_member(hold, DLKI_UPGRADEABLE_READ);
	return one && !dlki_hold_multi(one) ? dlki_hold_claim(one)->token : 0;
}

dlock_hold *dlock_member(const dlock_hold *hold, size_t i)
{
	return hold && dlki_hold_multi(hold) ? dlki_multi_member(hold, i) :
					       NULL;
}

int dlock_hold_fd(dlock_hold *hold)
{
	struct dlki_scope s = dlki_enter();
	int fd;

	if (!hold)
		fd = dlk_fail(&s.err, DLOCK_EINVAL, "hold is NULL");
	else if (dlki_hold_multi(hold))
		fd = dlki_multi_fd(hold, &s.err);
	else
		fd = dlki_claim_fd(dlki_hold_claim(hold), &s.err);
	return dlki_leave_with(&s, fd);
}
