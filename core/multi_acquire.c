/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_acquire.h"

#include <stdlib.h>

#include "core/base/backoff.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/multi.h"
#include "core/multi_twice.h"

/*
 * The thread waits for a first member with empty hands, then tries each other
 * member.  After a failed try, the thread gives back all members and waits for
 * the busy member first.  So the thread takes part in no deadlock, in whatever
 * order others take the same locks: nested commands, a multi-lock with another
 * spelling of the URIs, other libraries.  The algorithm is std::lock's (C++,
 * [thread.lock.algorithm]), with queues in place of blocking mutexes.
 */

/* A try ends with the first answer.  After this time without an answer, the
 * thread waits for the member as for a busy member. */
#define TRY_MS 1000

/* Two threads may give way to each other at the same moment, again and again.
 * A pause of random length parts them. */
#define PAUSE_MIN_MS 1
#define PAUSE_MAX_MS 16

/* Two multi-locks meet again unless their pauses differ by more than the tries
 * of members and the giving back take. */
#define PAUSE_TRIES 4
#define PAUSE_TRIES_MAX_NS (500 * DLK_MS)

static int take_member(struct dlki_multi_hold *m,
		       const struct dlki_member *member, struct dlki_wait *w,
		       struct dlk_error *err)
{
	dlock_lock *lock = member->lock;
	int rc;

	w->begun = dlk_now();
	rc = dlki_acquire_wait(lock, dlki_lock_mode(lock), w,
			       &m->member[m->n].hold, err);
	if (rc == 0)
		m->member[m->n++].place = member->place;
	return rc;
}

struct dlki_wait dlki_multi_try(const struct dlki_wait *w)
{
	struct dlki_wait one = *w;
	dlk_time until = dlki_after_ms(dlk_now(), TRY_MS);

	one.once = 1;
	if (until < one.deadline)
		one.deadline = until;
	return one;
}

static int try_member(struct dlki_multi_hold *m, struct dlki_member *member,
		      const struct dlki_wait *w, struct dlk_error *err)
{
	struct dlki_wait one = dlki_multi_try(w);

	return take_member(m, member, &one, err);
}

/* A member may have been lost during the try of another. */
int dlki_multi_complete(const struct dlki_multi_hold *m, struct dlk_error *err)
{
	if (dlki_multi_check(&m->hold) != DLOCK_ELOST)
		return 0;
	return dlk_fail(err, DLOCK_ELOST,
			"a member was lost while the others were taken");
}

/* Wait for member `first`, then try the others.  `*next` is the member of the
 * failed try, or `first` without a failed try. */
static int take_members(struct dlki_multi_hold *m, struct dlki_multi *multi,
			size_t first, size_t *next, struct dlki_wait *w,
			struct dlk_error *err)
{
	int rc = take_member(m, &multi->member[first], w, err);

	*next = first;
	m->tried_at = dlk_now();
	for (size_t i = 0; i < multi->n && rc == 0; i++) {
		if (i == first)
			continue;
		rc = try_member(m, &multi->member[i], w, err);
		if (rc != 0)
			*next = i;
	}
	return rc == 0 ? dlki_multi_complete(m, err) : rc;
}

int dlki_multi_terms_check(const struct dlki_multi *multi,
			   const struct dlki_terms *terms,
			   struct dlk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < multi->n_clients && rc == 0; i++)
		rc = dlki_terms_check(terms, multi->clients[i]->schedule.ttl_ms,
				      err);
	return rc;
}

int dlki_multi_cancelled(struct dlki_wait *w, struct dlk_error *err)
{
	if (!dlki_patience_over(&w->patience))
		return 0;
	dlki_patience_answer(&w->patience);
	return dlk_fail(err, DLOCK_ECANCELED,
			"the wait for a multi-lock was cancelled");
}

/* The first pause has no length: most often the busy member has a usual holder,
 * not a multi-lock in the act of giving way. */
dlk_time dlki_multi_pause(struct dlki_backoff *pauses, struct dlock_client *c,
			  dlk_time tried_at, dlk_time most)
{
	dlk_time until = dlk_now();
	dlk_time longest = PAUSE_TRIES * (until - tried_at);
	uint64_t seed;

	if (pauses->max_us == 0) {
		pthread_mutex_lock(&c->mu);
		seed = dlki_owner_seed(&c->owners);
		pthread_mutex_unlock(&c->mu);
		dlki_backoff_init(pauses, PAUSE_MIN_MS, PAUSE_MAX_MS, seed);
		return until;
	}
	if (longest > PAUSE_TRIES_MAX_NS)
		longest = PAUSE_TRIES_MAX_NS;
	if (longest / 1000 > pauses->max_us)
		pauses->max_us = (uint32_t)(longest / 1000);
	until += dlki_backoff_next(pauses);
	return until < most ? until : most;
}

static int acquire_all(struct dlki_multi_hold *m, struct dlki_multi *multi,
		       struct dlki_wait *w, struct dlk_error *err)
{
	struct dlki_backoff pauses = { 0 };
	struct dlki_multi_twice twice = { 0 };
	size_t first = atomic_load(&multi->first), next;
	struct dlk_error ignored = { 0 };

	for (;;) {
		int rc = take_members(m, multi, first, &next, w, err);
		int final = m->n == 0 || w->once;

		if (rc == 0) {
			atomic_store(&multi->first, first);
			return 0;
		}
		if (rc == DLOCK_EBUSY &&
		    dlki_multi_twice(&twice, m, &multi->member[next], err))
			rc = final = err->code;
		(void)dlki_multi_release_members(m, w, &ignored);
		if (final || dlk_now() >= w->deadline)
			return rc;
		dlki_wait_pause(multi->clients[0], &w->patience,
				dlki_multi_pause(&pauses, multi->clients[0],
						 m->tried_at, w->deadline));
		if (dlki_multi_cancelled(w, err) != 0)
			return err->code;
		first = next;
	}
}

/* The close of a single client ends the wait anyway. */
static int wait_as_each_client(struct dlki_multi_hold *m, dlock_lock *lock,
			       struct dlki_wait *w, struct dlk_error *err)
{
	struct dlki_multi *multi = lock->multi;
	size_t n = multi->n_clients;
	struct dlki_multi_wait *waits;
	int rc;

	if (n == 1)
		return acquire_all(m, multi, w, err);
	waits = calloc(n, sizeof(waits[0]));
	if (!waits)
		return dlki_nomem(err);
	for (size_t i = 0; i < n; i++)
		waits[i].client = multi->clients[i];
	rc = dlki_multi_wait_begin(waits, n, lock, err);
	if (rc == 0) {
		rc = acquire_all(m, multi, w, err);
		dlki_multi_wait_end(waits, n);
	}
	free(waits);
	return rc;
}

int dlki_multi_acquire(dlock_lock *lock, struct dlki_wait *w, dlock_hold **out,
		       struct dlk_error *err)
{
	struct dlki_multi_hold *m;
	int rc = dlki_multi_terms_check(lock->multi, w->terms, err);

	if (rc != 0)
		return rc;
	m = dlki_multi_hold_new(lock->multi);
	if (!m)
		return dlki_nomem(err);
	rc = wait_as_each_client(m, lock, w, err);
	if (rc == 0)
		*out = &m->hold;
	else
		dlki_multi_hold_free(m);
	return rc;
}
