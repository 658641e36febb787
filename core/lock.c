/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lock.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/lifecycle.h"
#include "core/multi.h"
#include "core/overdue.h"

static int check_new_lock(dlock_lock **out, const dlock_client *client,
			  const char *name, struct dlk_error *err)
{
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	if (!client)
		return dlk_fail(err, DLOCK_EINVAL, "client is NULL");
	if (dlki_name_check(name, err) != 0)
		return err->code;
	return dlki_client_ours(client, err);
}

int dlki_lock_needs(const dlock_client *client, uint32_t cap, const char *what,
		    struct dlk_error *err)
{
	if (!(cap & ~client->session->caps))
		return 0;
	if (cap & client->backend->caps)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: has no %s with a parameter of this URI: "
				"%s",
				client->uri->scheme, what, client->uri->shown);
	return dlk_fail(err, DLOCK_ENOTSUP, "%s: has no %s",
			client->uri->scheme, what);
}

/* All was checked. */
static int make_lock(dlock_lock **out, dlock_client *client, enum dlk_kind kind,
		     const char *name, uint32_t limit, struct dlk_error *err)
{
	struct dlki_record *fresh;
	dlock_lock *lock;
	int rc;

	lock = calloc(1, sizeof(*lock));
	fresh = dlki_record_new(client, kind, name, limit);
	if (!lock || !fresh) {
		free(lock);
		free(fresh);
		return dlki_nomem(err);
	}
	pthread_mutex_lock(&client->mu);
	rc = dlki_record_intern(&lock->record, fresh, err);
	pthread_mutex_unlock(&client->mu);
	if (lock->record != fresh)
		free(fresh);
	if (rc != 0) {
		free(lock);
		return rc;
	}
	*out = lock;
	return 0;
}

int dlki_mutex_new(dlock_lock **out, dlock_client *client, const char *name,
		   struct dlk_error *err)
{
	int rc = check_new_lock(out, client, name, err);

	return rc != 0 ? rc : make_lock(out, client, DLK_LOCK, name, 0, err);
}

int dlock_mutex_new(dlock_lock **out, dlock_client *client, const char *name)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, dlki_mutex_new(out, client, name, &s.err));
}

int dlock_rwlock_new(dlock_lock **out, dlock_client *client, const char *name)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_new_lock(out, client, name, &s.err);

	if (rc == 0)
		rc = dlki_lock_needs(client, DLOCK_CAP_SHARED,
				     "read-write locks", &s.err);
	if (rc == 0)
		rc = make_lock(out, client, DLK_LOCK, name, 0, &s.err);
	if (rc == 0)
		(*out)->has_read_side = 1;
	return dlki_leave_with(&s, rc);
}

int dlock_semaphore_new(dlock_lock **out, dlock_client *client,
			const char *name, uint32_t permits)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_new_lock(out, client, name, &s.err);

	if (rc == 0 && permits == 0)
		rc = dlk_fail(&s.err, DLOCK_EINVAL,
			      "semaphore '%s': 0 permits; 1 is the least",
			      name);
	if (rc == 0)
		rc = dlki_lock_needs(client, DLOCK_CAP_COUNT, "semaphores",
				     &s.err);
	if (rc == 0)
		rc = make_lock(out, client, DLK_SEMAPHORE, name, permits,
			       &s.err);
	return dlki_leave_with(&s, rc);
}

enum dlk_mode dlki_lock_mode(const dlock_lock *lock)
{
	return lock->record->kind == DLK_SEMAPHORE || lock->reads ?
		       DLK_SHARED :
		       DLK_EXCLUSIVE;
}

int dlki_lock_check(const dlock_lock *lock, int reads, struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (reads && !lock->has_read_side)
		return dlk_fail(err, DLOCK_EINVAL,
				"only a read-write lock has a read side");
	return 0;
}

/* May a property of the handle be set? */
static int check_set(const dlock_lock *lock, int reads, struct dlk_error *err)
{
	int rc = dlki_lock_check(lock, reads, err);

	if (rc != 0)
		return rc;
	return dlki_client_here(dlki_lock_is_multi(lock) ?
					lock->multi->clients[0] :
					lock->record->client,
				err);
}

int dlock_lock_use_read_side(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_set(lock, 1, &s.err);

	if (rc == 0)
		lock->reads = 1;
	return dlki_leave_with(&s, rc);
}

int dlki_lock_clone(dlock_lock **out, const dlock_lock *lock,
		    struct dlk_error *err)
{
	struct dlki_record *record = lock->record;
	dlock_lock *twin = calloc(1, sizeof(*twin));

	if (!twin)
		return dlki_nomem(err);
	twin->record = record;
	twin->has_read_side = lock->has_read_side;
	twin->unbound = lock->unbound;
	twin->reads = lock->reads;
	pthread_mutex_lock(&record->client->mu);
	record->refs++;
	pthread_mutex_unlock(&record->client->mu);
	*out = twin;
	return 0;
}

void dlki_lock_free(dlock_lock *lock)
{
	struct dlki_record *record = lock->record;
	struct dlock_client *c = record->client;

	/* In a forked child mu may be locked for ever; the child's memory is a
	 * copy. */
	if (dlki_client_ours(c, NULL) == 0) {
		pthread_mutex_lock(&c->mu);
		dlki_record_unref(record);
		dlki_client_unlock(c);
	}
	free(lock);
}

void dlki_lock_cancel(dlock_lock *lock)
{
	struct dlock_client *c = lock->record->client;
	struct dlki_claim *w;

	if (dlki_client_ours(c, NULL) != 0)
		return;
	atomic_fetch_add(&lock->cancels, 1);
	pthread_mutex_lock(&c->mu);
	LIST_FOREACH(w, &lock->waits, in_list) {
		w->cancelled = 1;
		if (w->call)
			dlki_overdue_cancelled(w->call);
		else
			dlki_claim_rouse(w);
	}
	/* Calls between two claims, or that have not asked yet. */
	pthread_cond_broadcast(&c->changed);
	dlki_overdue_cancel_each(&c->asyncs.acquires, lock);
	dlki_overdue_cancel_each(&c->asyncs.asking, lock);
	dlki_overdue_cancel_each(&c->asyncs.paused, lock);
	pthread_mutex_unlock(&c->mu);
	dlki_rousers_rouse(&c->rousers);
}

int dlock_lock_sticky_cancel(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_set(lock, 0, &s.err);

	if (rc == 0 && !lock->sticky)
		atomic_store(&lock->answered, atomic_load(&lock->cancels));
	if (rc == 0)
		lock->sticky = 1;
	return dlki_leave_with(&s, rc);
}

int dlock_lock_unbind(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_set(lock, 0, &s.err);

	if (rc == 0 && dlki_lock_is_multi(lock))
		rc = dlk_fail(&s.err, DLOCK_EINVAL,
			      "a multi-lock has no holds of its own: unbind "
			      "its members before dlock_multi_new()");
	if (rc == 0)
		lock->unbound = 1;
	return dlki_leave_with(&s, rc);
}
