/* SPDX-License-Identifier: Apache-2.0 */
#include "core/multi_hold.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/multi.h"
#include "core/release.h"
#include "core/upgrade.h"

struct dlki_multi_hold *dlki_multi_hold_new(const struct dlki_multi *multi)
{
	struct dlki_multi_hold *m;

	m = calloc(1, sizeof(*m) + multi->n * sizeof(m->member[0]));
	if (!m)
		return NULL;
	m->upgradeable = multi->upgradeable;
	m->hold.count = 1;
	atomic_init(&m->fd, -1);
	return m;
}

void dlki_multi_hold_free(struct dlki_multi_hold *m)
{
	int fd;

	if (!m)
		return;
	fd = atomic_load(&m->fd);
	if (fd >= 0)
		close(fd);
	free(m);
}

/* In reverse.  After a failed acquire the whole takes no longer than the last
 * request of it, else no longer than a single release may. */
int dlki_multi_release_members(struct dlki_multi_hold *m, struct dlki_wait *w,
			       struct dlk_error *err)
{
	dlk_time begun = dlk_now();
	int rc = 0;

	while (m->n > 0) {
		dlock_hold *hold = m->member[m->n - 1].hold;
		const struct dlock_client *c = dlki_hold_claim(hold)->client;
		int64_t ask_ms = dlki_ask_ms(&c->ask);
		dlk_time deadline = w ? dlki_after_ms(w->deadline, ask_ms) :
					dlki_after_ms(begun, c->close_ms);
		struct dlk_error one = { 0 };
		int got;

		if (w) {
			w->patience.ask_ms = ask_ms;
			dlki_patience_begin(&w->patience);
		}
		got = dlki_release(hold, deadline, &one);
		if (w)
			dlki_patience_end(&w->patience);
		if (got == DLOCK_EINVAL) {
			*err = one;
			return got;
		}
		m->n--;
		if (got != 0 && (rc == 0 || got == DLOCK_ELOST)) {
			rc = got;
			*err = one;
		}
	}
	return rc;
}

/* An upgradeable read side goes before the gate: a write side that another
 * thread was handed since the check refuses the release of the read side, and
 * then both stay. */
static void put_read_side_last(struct dlki_multi_hold *m)
{
	struct dlki_member_hold *last = &m->member[m->n - 1], gate = *last;

	if (!m->upgradeable || last->place == DLKI_UPGRADEABLE_READ)
		return;
	*last = m->member[0];
	m->member[0] = gate;
}

int dlki_multi_may_release(struct dlki_multi_hold *m, struct dlk_error *err)
{
	for (size_t i = 0; i < m->n; i++) {
		struct dlock_client *c =
			dlki_hold_claim(m->member[i].hold)->client;
		int rc = dlki_client_ours(c, err);

		if (rc != 0)
			return rc;
		pthread_mutex_lock(&c->mu);
		rc = dlki_may_release(m->member[i].hold, err);
		pthread_mutex_unlock(&c->mu);
		if (rc != 0)
			return rc;
	}
	put_read_side_last(m);
	return 0;
}

int dlki_multi_release(dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_multi_hold *m = dlki_hold_multi(hold);
	int rc = dlki_multi_may_release(m, err);

	if (rc != 0)
		return rc;
	rc = dlki_multi_release_members(m, NULL, err);
	if (m->n == 0)
		dlki_multi_hold_free(m);
	return rc;
}

int dlki_multi_check(const dlock_hold *hold)
{
	const struct dlki_multi_hold *m = dlki_hold_multi(hold);

	for (size_t i = 0; i < m->n; i++) {
		int rc = dlki_claim_check(dlki_hold_claim(m->member[i].hold));

		if (rc != DLOCK_OK)
			return rc;
	}
	return DLOCK_OK;
}

int64_t dlki_multi_least_ms(const dlock_hold *hold,
			    int64_t (*ask)(struct dlki_claim *member))
{
	const struct dlki_multi_hold *m = dlki_hold_multi(hold);
	int64_t least = -1;

	for (size_t i = 0; i < m->n; i++) {
		int64_t ms = ask(dlki_hold_claim(m->member[i].hold));

		if (ms >= 0 && (least < 0 || ms < least))
			least = ms;
	}
	return least;
}

int dlki_multi_fd(dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_multi_hold *m = dlki_hold_multi(hold);
	int none = -1;
	int fd = dlki_client_ours(dlki_hold_claim(m->member[0].hold)->client,
				  err);

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
		int member = dlki_claim_fd(dlki_hold_claim(m->member[i].hold),
					   err);

		if (member < 0 ||
		    epoll_ctl(fd, EPOLL_CTL_ADD, member, &ev) != 0) {
			int errnum = errno;

			close(fd);
			if (member < 0)
				return member;
			return dlki_system(err, errnum, "epoll_ctl");
		}
	}
	if (!atomic_compare_exchange_strong(&m->fd, &none, fd)) {
		close(fd); /* another thread was faster */
		fd = none;
	}
	return fd;
}

dlock_hold *dlki_multi_member(const dlock_hold *hold, size_t i)
{
	const struct dlki_multi_hold *m = dlki_hold_multi(hold);

	for (size_t k = 0; k < m->n; k++) {
		if (m->member[k].place == i)
			return m->member[k].hold;
	}
	return NULL;
}
