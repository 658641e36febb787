/* SPDX-License-Identifier: Apache-2.0 */
/* Having all members of a multi-lock, or none. */
#include "core/multi_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"

/* In reverse; the gravest failure is the answer.  All of it takes no longer
 * than one release may, and of an acquire that failed, `w`, no longer than its
 * last request. */
static int release_all(struct dlki_multi_hold *m, const struct dlki_wait *w,
		       struct dlk_error *err)
{
	dlk_time begun = dlk_now();
	int rc = 0;

	while (m->n > 0) {
		dlock_hold *hold = m->member[--m->n].hold;
		const struct dlock_client *c = hold->claim->client;
		dlk_time deadline = w ? dlki_after_ms(w->deadline, c->ask_ms) :
					dlki_after_ms(begun, c->close_ms);
		struct dlk_error one = { 0 };
		int got = dlki_release(hold, deadline, &one);

		if (got != 0 && (rc == 0 || got == DLOCK_ELOST)) {
			rc = got;
			*err = one;
		}
	}
	return rc;
}

static int acquire_all(struct dlki_multi_hold *m,
		       const struct dlki_multi *multi,
		       const struct dlki_wait *w, struct dlk_error *err)
{
	for (size_t i = 0; i < multi->n; i++) {
		dlock_lock *lock = multi->member[i].lock;
		enum dlk_mode mode = lock->record->kind == DLK_SEMAPHORE ?
					     DLK_SHARED :
					     DLK_EXCLUSIVE;
		struct dlki_wait one = *w;
		int rc;

		one.begun = dlk_now();
		rc = dlki_acquire(lock, mode, &one, &m->member[i].hold, err);

		if (rc != 0)
			return rc;
		m->member[i].place = multi->member[i].place;
		m->n++;
	}
	return 0;
}

static int cancelled(const struct dlki_wait *w, struct dlk_error *err)
{
	return atomic_load(w->cancels) == w->cancels_seen ?
		       0 :
		       dlk_fail(err, DLOCK_ECANCELED,
				"the wait for a multi-lock was cancelled");
}

/* Until all are had: 0, or what it failed with, and then none is had. */
static int wait_for_all(struct dlki_multi_hold *m,
			const struct dlki_multi *multi,
			const struct dlki_wait *w, struct dlk_error *err)
{
	int final, rc;

	do {
		struct dlk_error ignored = { 0 };

		rc = acquire_all(m, multi, w, err);
		/* The first ones may have been lost while the last one was
		 * waited for. */
		if (rc == 0 && dlki_multi_check(&m->hold) == DLOCK_ELOST)
			rc = dlk_fail(err, DLOCK_ELOST,
				      "a member was lost "
				      "while the others were waited for");
		if (rc == 0)
			return 0;
		final = m->n < multi->n;
		release_all(m, w, &ignored);
		if (!final && cancelled(w, err))
			rc = final = err->code;
	} while (!final && !w->once && dlk_now() < w->deadline);
	return rc;
}

/* Where there is but one client, its closing ends the wait by itself. */
static int wait_jointly(struct dlki_multi_hold *m, dlock_lock *lock,
			const struct dlki_wait *w, struct dlk_error *err)
{
	const struct dlki_multi *multi = lock->multi;
	size_t n = multi->n_clients;
	struct dlki_joint *joints;
	int rc;

	if (n == 1)
		return wait_for_all(m, multi, w, err);
	joints = calloc(n, sizeof(joints[0]));
	if (!joints)
		return dlki_nomem(err);
	for (size_t i = 0; i < n; i++)
		joints[i].client = multi->clients[i];
	rc = dlki_joint_begin(joints, n, lock, err);
	if (rc == 0) {
		rc = wait_for_all(m, multi, w, err);
		dlki_joint_end(joints, n);
	}
	free(joints);
	return rc;
}

int dlki_multi_acquire(dlock_lock *lock, const struct dlki_wait *w,
		       dlock_hold **out, struct dlk_error *err)
{
	const struct dlki_multi *multi = lock->multi;
	struct dlki_multi_hold *m;
	int rc;

	m = calloc(1, sizeof(*m) + multi->n * sizeof(m->member[0]));
	if (!m)
		return dlki_nomem(err);
	m->hold.multi = m;
	m->hold.count = 1;
	atomic_init(&m->fd, -1);
	rc = wait_jointly(m, lock, w, err);
	if (rc == 0)
		*out = &m->hold;
	else
		free(m);
	return rc;
}

static int may_release(const struct dlki_multi_hold *m, struct dlk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->n && rc == 0; i++) {
		struct dlock_client *c = m->member[i].hold->claim->client;

		rc = dlki_client_ours(c, err);
		if (rc != 0)
			break;
		pthread_mutex_lock(&c->mu);
		rc = dlki_may_release(m->member[i].hold, err);
		pthread_mutex_unlock(&c->mu);
	}
	return rc;
}

int dlki_multi_release(dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_multi_hold *m = hold->multi;
	int rc = may_release(m, err);
	int fd;

	if (rc != 0)
		return rc;
	fd = atomic_load(&m->fd);
	if (fd >= 0)
		close(fd);
	rc = release_all(m, NULL, err);
	free(m);
	return rc;
}

int dlki_multi_check(const dlock_hold *hold)
{
	const struct dlki_multi_hold *m = hold->multi;

	for (size_t i = 0; i < m->n; i++) {
		int rc = dlock_check(m->member[i].hold);

		if (rc != DLOCK_OK)
			return rc;
	}
	return DLOCK_OK;
}

int64_t dlki_multi_remaining_ms(const dlock_hold *hold)
{
	const struct dlki_multi_hold *m = hold->multi;
	int64_t least_ms = -1;

	for (size_t i = 0; i < m->n; i++) {
		int64_t ms = dlock_remaining_ms(m->member[i].hold);

		if (ms >= 0 && (least_ms < 0 || ms < least_ms))
			least_ms = ms;
	}
	return least_ms;
}

int dlki_multi_fd(dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_multi_hold *m = hold->multi;
	int none = -1;
	int fd = dlki_client_ours(m->member[0].hold->claim->client, err);

	if (fd != 0)
		return fd;
	fd = atomic_load(&m->fd);
	if (fd >= 0)
		return fd;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return dlki_system(err, errno, "epoll_create1");
	for (size_t i = 0; i < m->n; i++) {
		struct epoll_event ev = { .events = EPOLLIN };
		int member = dlock_hold_fd(m->member[i].hold);

		if (member < 0 ||
		    epoll_ctl(fd, EPOLL_CTL_ADD, member, &ev) != 0) {
			int errnum = errno;

			close(fd);
			if (member < 0)
				return dlk_fail(err, member, "%s",
						dlock_errmsg());
			return dlki_system(err, errnum, "epoll_ctl");
		}
	}
	if (!atomic_compare_exchange_strong(&m->fd, &none, fd)) {
		close(fd); /* another thread was faster */
		fd = none;
	}
	return fd;
}

dlock_hold *dlock_member(const dlock_hold *hold, size_t i)
{
	const struct dlki_multi_hold *m = hold ? hold->multi : NULL;

	for (size_t k = 0; m && k < m->n; k++) {
		if (m->member[k].place == i)
			return m->member[k].hold;
	}
	return NULL;
}
