/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewals, ends of holds, and losses. Every store can lose a hold that reaches
 * max_hold, so max_hold is the cause of loss here.
 */
#include <fcntl.h>
#include <stdatomic.h>

#include "conform/cases.h"
#include "conform/worker.h"

enum { BRIEF_MS = 150 };
#define BRIEF "max_hold=150ms"

static atomic_int lost_events;

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)arg;
	if (event != DLOCK_LOST)
		return;
	CHECK(why && why[0]);
	CHECK_RC(dlock_check(hold), DLOCK_ELOST);
	atomic_fetch_add(&lost_events, 1);
}

static dlock_client *brief_client(struct conform *t)
{
	dlock_options opts = DLOCK_OPTIONS_INIT;

	opts.on_event = on_event;
	return another_client(t, BRIEF, &opts);
}

static int stands(const struct conform *t, const dlock_hold *h)
{
	int64_t left = dlock_remaining_ms(h);

	CHECK_OK(dlock_check(h));
	CHECK_INT(left, <=, t->ttl_ms);
	return left > 0;
}

void case_lease_is_renewed(struct conform *t)
{
	struct worker *p;
	dlock_hold *h;

	use_short_lease(t);
	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	h = take(t->lock);
	if (t->ttl_ms == 0) {
		CHECK_INT(dlock_remaining_ms(h), ==, -1);
	} else {
		ALL_ALONG(t->ttl_ms * 2, stands(t, h));
		CHECK_INT(stats_of(t->client).renewed, >=, 2);
	}
	CHECK_INT(ask(p, ACQUIRE, 0).rc, ==, DLOCK_EBUSY);
	give(h);
	CHECK_INT(stats_of(t->client).lost, ==, 0);
}

void case_lease_max_hold(struct conform *t)
{
	dlock_client *c = brief_client(t);
	int64_t begun = now_ms();
	struct worker *p;
	dlock_hold *h;

	use_mutex(t);
	p = join(t, OTHER_CLIENT);
	h = take(handle(t, c));
	CHECK_INT(dlock_remaining_ms(h), <=, BRIEF_MS);
	CHECK_INT(dlock_remaining_ms(h), >=, 0);
	tell(p, ACQUIRE, -1);
	HEAR_OK(p);
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_INT(now_ms() - begun, >=, BRIEF_MS - 1);
	CHECK_INT(dlock_remaining_ms(h), ==, 0);
	EVENTUALLY(lost_events == 1);
	CHECK(is_readable(dlock_hold_fd(h), 0));
	CHECK_RC(release(h), DLOCK_ELOST);
	CHECK_TEXT(face_errmsg(), t->name);
	ALL_ALONG(20, lost_events == 1);
	CHECK_INT(stats_of(c).lost, ==, 1);
	CHECK_INT(stats_of(c).holds, ==, 0);
	ASK_OK(p, CHECK_HOLD, 0);
}

/* A thread with a lost hold must release the hold before the next acquire. */
void case_lease_lost_reentry(struct conform *t)
{
	dlock_client *c = brief_client(t);
	dlock_hold *h, *none = NULL;
	dlock_lock *l;

	use_mutex(t);
	l = handle(t, c);
	h = take(l);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(acquire(l, 0, &none), DLOCK_ELOST);
	CHECK_RC(acquire(l, -1, &none), DLOCK_ELOST);
	CHECK(!none);
	give(take(t->lock));
	CHECK_RC(release(h), DLOCK_ELOST);
	give(take(l));
}

void case_lease_no_late_event(struct conform *t)
{
	dlock_client *c = brief_client(t);
	dlock_hold *h;

	use_mutex(t);
	h = take(handle(t, c));
	CHECK(!is_readable(dlock_hold_fd(h), 0));
	give(h);
	ALL_ALONG(BRIEF_MS + 50, lost_events == 0);
	CHECK_INT(stats_of(c).lost, ==, 0);
}

void case_lease_fd(struct conform *t)
{
	dlock_client *c = brief_client(t);
	dlock_hold *h, *kept;
	int fd, kept_fd;

	use_mutex(t);
	kept = take(t->lock);
	h = take(any_lock(t, c, MUTEX, 0, "conform/brief"));
	fd = dlock_hold_fd(h);
	kept_fd = dlock_hold_fd(kept);
	CHECK(fd != kept_fd);
	CHECK_INT(dlock_hold_fd(h), ==, fd);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK(!is_readable(fd, 0));
	EVENTUALLY(is_readable(fd, 0));
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK(!is_readable(kept_fd, 0));
	CHECK_OK(dlock_check(kept));
	CHECK_RC(release(h), DLOCK_ELOST);
	/* A descriptor made after the loss is readable at once. */
	h = take(any_lock(t, c, MUTEX, 0, "conform/brief"));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	EVENTUALLY(is_readable(dlock_hold_fd(h), 0));
	CHECK_RC(release(h), DLOCK_ELOST);
	give(kept);
}
