/* SPDX-License-Identifier: Apache-2.0 */
/* Holders give way to waiters, and dlock_revoke(). */
#include <poll.h>

#include "chaos/mix.h"
#include "lab/base/clock.h"

#define LOOK_MS 5

static int draw_mutex(struct chaos_thread *me)
{
	return chaos_chance(&me->random, 50) ? CHAOS_ONE : CHAOS_TWO;
}

/* A store without WANTED tells at a renewal: after a third of the lease. */
static int64_t draw_patience(struct chaos_thread *me)
{
	int64_t ttl = me->w->job->ttl_ms;

	if (dlock_caps(me->w->client) & DLOCK_CAP_WANTED)
		return chaos_between(&me->random, 1, ttl / 2);
	return chaos_between(&me->random, 1, ttl);
}

static int polls_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, LOOK_MS) > 0;
}

static void work_until_wanted(struct chaos_thread *me, struct chaos_held *h)
{
	int64_t end = lab_after_ms(draw_patience(me));
	int fd = dlock_wanted_fd(h->hold);
	int wanted = 0;

	if (fd < 0) {
		if (fd != DLOCK_ELOST && fd != DLOCK_EUNREACHABLE)
			chaos_odd(h, "the descriptor of WANTED", fd);
		return;
	}
	while (!h->lost && !wanted && lab_now() < end) {
		chaos_check(h);
		chaos_write(h);
		wanted = polls_readable(fd);
	}
	if (wanted)
		chaos_did(me, CHAOS_YIELD);
}

void chaos_yield(struct chaos_thread *me, struct chaos_held *h)
{
	int rc = dlock_revocable(h->hold);

	if (rc == DLOCK_OK)
		work_until_wanted(me, h);
	else if (rc != DLOCK_ELOST && rc != DLOCK_EUNREACHABLE)
		chaos_odd(h, "revocable", rc);
}

void chaos_use_revocable(struct chaos_thread *me)
{
	int name = draw_mutex(me);
	struct chaos_held h = chaos_held(me, name, 1);
	int64_t wait = chaos_draw_wait(me);
	dlock_hold *hold = NULL;
	int rc;

	h.op = lab_holds_acquire(&me->w->holds, h.name, LAB_MUTEX, 0, wait);
	rc = dlock_acquire(me->own[name], wait, &hold);
	chaos_answered(&h, rc, hold);
	if (!chaos_usual(rc))
		chaos_odd(&h, "acquire, revocable", rc);
	if (rc != DLOCK_OK)
		return;
	chaos_yield(me, &h);
	chaos_give(&h, 1, hold);
}

void chaos_use_revoke(struct chaos_thread *me)
{
	int permits = dlock_caps(me->w->client) & DLOCK_CAP_REVOKE_PERMITS &&
		      chaos_chance(&me->random, 33);
	int name = permits ? CHAOS_SEATS : draw_mutex(me);
	struct chaos_held h = chaos_held(me, name, !permits);
	int rc = dlock_revoke(me->own[name], me->w->job->ttl_ms);

	if (rc == DLOCK_OK)
		chaos_did(me, CHAOS_REVOKE);
	else if (rc != DLOCK_EUNREACHABLE)
		chaos_odd(&h, "revoke", rc);
}
