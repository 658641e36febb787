/* SPDX-License-Identifier: Apache-2.0 */
/* The pump of a client without threads, whose waiters take turns. */
#include "core/support.h"

TestSuite(pump_alone, .timeout = 60);

enum { VAIN = 2, TIMES = 100 };

static dlock_client *client, *other;

static void close_all(void *arg)
{
	(void)arg;
	dlock_close(client);
	dlock_close(other);
}

static void given_clients(void)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	OK(dlock_open(&other, "mem:", NULL));
	o.no_threads = 1;
	OK(dlock_open(&client, "mem:", &o));
	at_end(close_all, client);
}

static dlock_lock *unbound(dlock_client *c)
{
	dlock_lock *l;

	OK(dlock_mutex_new(&l, c, "a"));
	OK(dlock_lock_unbind(l));
	return l;
}

/* The first thread has the pump, and leaves together with the second: perhaps
 * the second is offered the pump.  The third gets the pump in any case. */
static void two_of_three_leave(dlock_lock *vain, dlock_lock *stays)
{
	struct taker first[VAIN] = { 0 }, last = { 0 };
	int64_t begun_ms;

	for (int i = 0; i < VAIN; i++)
		taker_queue(&first[i], client, vain, FOREVER);
	taker_queue(&last, client, stays, FOREVER);
	begun_ms = now_ms();
	dlock_cancel(vain);
	for (int i = 0; i < VAIN; i++)
		cr_assert_eq(taker_join(&first[i]), DLOCK_ECANCELED);
	EVENTUALLY(somebody_pumps(client));
	cr_assert_lt(now_ms() - begun_ms, 2000 + stalled_ms());
	dlock_cancel(stays);
	cr_assert_eq(taker_join(&last), DLOCK_ECANCELED);
	cr_assert_not(somebody_pumps(client));
}

CASE(pump_alone, goes_to_a_waiter_that_stays)
{
	dlock_lock *busy, *vain, *stays;
	dlock_hold *hold;

	stall_watch();
	given_clients();
	busy = unbound(other);
	vain = unbound(client);
	stays = unbound(client);
	OK(dlock_acquire(busy, 0, &hold));
	for (int i = 0; i < TIMES; i++)
		two_of_three_leave(vain, stays);
	OK(dlock_release(hold));
	dlock_lock_free(stays);
	dlock_lock_free(vain);
	dlock_lock_free(busy);
}
