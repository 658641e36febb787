/* SPDX-License-Identifier: Apache-2.0 */
/* Waits whose calls are cancelled: no thread looks for the cancel. */
#include <criterion/criterion.h>

#include "core/base/clock.h"
#include "core/base/patience.h"
#include "support/wait.h"
#include "tests/loop/driven.h"

#define ASK_MS 40

/* A call that is never answered, with a long deadline. */
struct caller {
	pthread_t id;
	_Atomic uint64_t cancels;
	int64_t ask_ms;
	int sleeps; /* in dlki_drive_sleep() */
	struct dlki_waiter waiter;
	atomic_int is_over;
};

static void rouse(struct dlki_rouser *r)
{
	(void)r;
	dlki_drive_rouse(engine);
}

static void *wait_impatiently(void *arg)
{
	struct caller *c = arg;
	struct dlki_patience patience = { .cancels = &c->cancels,
					  .ask_ms = c->ask_ms };
	dlk_time until = dlk_now() + 600000 * DLK_MS;

	dlki_patience_begin(&patience);
	cr_assert_eq(dlki_lock(engine), 0);
	if (c->sleeps)
		dlki_drive_sleep(engine, until);
	else
		cr_assert(!dlki_drive(engine, &c->waiter, until));
	dlki_unlock(engine);
	dlki_patience_end(&patience);
	c->is_over = 1;
	return NULL;
}

static void begin(struct caller *c)
{
	dlki_waiter_init(&c->waiter);
	pthread_create(&c->id, NULL, wait_impatiently, c);
}

/* Without a wake a thread looks again after five seconds. */
static void expect_over(struct caller *c, dlk_time since)
{
	EVENTUALLY(c->is_over);
	cr_assert_lt(dlk_now() - since, 1000 * slowness() * DLK_MS);
	pthread_join(c->id, NULL);
}

static void cancel(struct caller *c)
{
	dlk_time begun = dlk_now();

	atomic_store(&c->cancels, 1);
	dlki_drive_rouse(engine);
	expect_over(c, begun);
}

TestSuite(drive_cancelled, .init = setup, .fini = teardown);

/* Each turn looks at the clock a few times. */
Test(drive_cancelled, waits_sleep_until_the_cancel)
{
	struct caller leader = { .ask_ms = 0 };
	struct caller follower = { .ask_ms = 0 };

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	begin(&leader);
	begin(&follower);
	EVENTUALLY(turns_in_a_while() == 0);
	cancel(&follower);
	cancel(&leader);
	cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
}

Test(drive_cancelled, a_cancelled_wait_has_time_for_an_answer)
{
	struct caller c = { .ask_ms = ASK_MS };
	dlk_time begun;

	begin(&c);
	EVENTUALLY(turns_in_a_while() == 0);
	begun = dlk_now();
	cancel(&c);
	cr_assert_geq(dlk_now() - begun, ASK_MS * DLK_MS);
}

Test(drive_cancelled, a_sleep_ends_at_once)
{
	struct caller c = { .ask_ms = 600000, .sleeps = 1 };

	begin(&c);
	EVENTUALLY(turns_in_a_while() == 0);
	cancel(&c);
}

/* Many threads are cancelled while they begin to wait. */
Test(drive_cancelled, no_cancel_is_missed)
{
	enum { TIMES = 300 };

	for (int i = 0; i < TIMES; i++) {
		struct caller c = { .ask_ms = 0 };

		begin(&c);
		cancel(&c);
	}
}

Test(drive_cancelled, a_rouser_joins_the_list_of_the_threads_call)
{
	_Atomic uint64_t cancels = 0;
	struct dlki_rousers all;
	struct dlki_patience patience = { .cancels = &cancels,
					  .rousers = &all };
	struct dlki_rouser r[3] = { { .rouse = rouse },
				    { .rouse = rouse },
				    { .rouse = rouse } };
	struct caller c = { .ask_ms = 0 };
	dlk_time begun;

	dlki_rousers_init(&all);
	dlki_rouser_join(&r[0]);
	cr_assert_null(LIST_FIRST(&all.all));
	dlki_rouser_leave(&r[0]);
	dlki_patience_begin(&patience);
	for (int i = 0; i < 3; i++)
		dlki_rouser_join(&r[i]);
	dlki_patience_end(&patience);
	dlki_rouser_leave(&r[1]);
	begin(&c);
	EVENTUALLY(turns_in_a_while() == 0);
	begun = dlk_now();
	atomic_store(&c.cancels, 1);
	dlki_rousers_rouse(&all);
	expect_over(&c, begun);
	dlki_rouser_leave(&r[0]);
	dlki_rouser_leave(&r[2]);
	cr_assert_null(LIST_FIRST(&all.all));
	dlki_rousers_destroy(&all);
}
