/* SPDX-License-Identifier: Apache-2.0 */
#include "core/permits.h"

#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "core/inspect.h"

static void count_permits(const struct dlock_participant *p, void *arg)
{
	struct dlock_permits *sum = arg;

	sum->limit = p->limit;
	if (!p->waiting)
		sum->held += p->permits;
}

static int check_semaphore(const dlock_lock *lock, struct dlk_error *err)
{
	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (dlki_lock_is_multi(lock) || lock->record->kind != DLK_SEMAPHORE)
		return dlk_fail(err, DLOCK_EINVAL,
				"only a semaphore has permits");
	return 0;
}

static int count(const dlock_lock *lock, struct dlock_permits *out,
		 int64_t timeout_ms, struct dlk_error *err)
{
	struct dlock_permits sum = { 0 };
	int rc = check_semaphore(lock, err);

	if (rc != 0)
		return rc;
	if (!out || out->size <= offsetof(struct dlock_permits, limit))
		return dlk_fail(err, DLOCK_EINVAL,
				"out is NULL, or dlock_permits.size is not "
				"sizeof(struct dlock_permits)");
	sum.limit = lock->record->limit;
	rc = dlki_inspect(lock, count_permits, &sum, timeout_ms, err);
	if (rc != 0)
		return rc;
	sum.free = sum.limit > sum.held ? sum.limit - sum.held : 0;
	sum.size = out->size < sizeof(sum) ? out->size : sizeof(sum);
	memcpy(out, &sum, sum.size);
	return 0;
}

static int resize(const dlock_lock *lock, uint32_t permits, int64_t timeout_ms,
		  struct dlk_error *err)
{
	int rc = check_semaphore(lock, err);

	if (rc != 0)
		return rc;
	if (permits == 0)
		return dlk_fail(err, DLOCK_EINVAL,
				"semaphore '%s': 0 permits; 1 is the least",
				lock->record->name);
	return dlki_resize(lock, permits, timeout_ms, err);
}

int dlock_semaphore_permits(dlock_lock *lock, struct dlock_permits *out,
			    int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, count(lock, out, timeout_ms, &s.err));
}

int dlock_semaphore_resize(dlock_lock *lock, uint32_t permits,
			   int64_t timeout_ms)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, resize(lock, permits, timeout_ms, &s.err));
}

int dlki_permits_check(const dlock_lock *lock, uint32_t permits,
		       struct dlk_error *err)
{
	const struct dlki_record *r = lock->record;
	int rc = permits != 0 ? check_semaphore(lock, err) : 0;

	if (permits <= 1 || rc != 0)
		return rc;
	if (permits > r->limit)
		return dlk_fail(err, DLOCK_EINVAL,
				"semaphore '%s': %u permits at once; it has %u "
				"of them",
				r->name, (unsigned int)permits,
				(unsigned int)r->limit);
	if (!(r->client->session->caps & DLOCK_CAP_PERMITS))
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: cannot grant several permits at once",
				r->client->uri->scheme);
	return 0;
}
