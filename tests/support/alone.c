/* SPDX-License-Identifier: Apache-2.0 */
#include "support/alone.h"

#include <poll.h>

#include "support/check.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/outcome.h"
#include "support/wait.h"

enum { N = 3 };

static struct outcome got[N], given[N];

/* Processes until there is nothing to do: a call that waited for the answer
 * would have ended without one. */
static void run_dry(dlock_client *c)
{
	struct pollfd p = { .fd = dlock_client_fd(c), .events = POLLIN };

	while (dlock_process(c, 0) > 0 || poll(&p, 1, 0) > 0)
		continue;
}

static dlock_lock *unbound_mutex(dlock_client *c, const char *name)
{
	dlock_lock *l = mutex(c, name);

	CHECK_OK(dlock_lock_unbind(l));
	return l;
}

void alone_is_not_held_up(const char *uri, struct lab_proxy *proxy)
{
	static const char *const names[N] = { "x", "y", "z" };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;

	o.no_threads = 1;
	c = client_of_case(uri, &o);
	lab_proxy_hole(proxy, LAB_UP, 1);
	for (int i = 0; i < N; i++) {
		ask_async(&got[i], unbound_mutex(c, names[i]), -1);
		run_dry(c);
		CHECK_INT(outcomes_called(got, N), ==, 0);
	}
	lab_proxy_heal(proxy);
	outcomes_process(c);
	for (int i = 0; i < N; i++)
		CHECK_OK(outcome_of(&got[i]));
	lab_proxy_hole(proxy, LAB_UP, 1);
	for (int i = 0; i < N; i++) {
		give_async(&given[i], got[i].hold);
		run_dry(c);
		CHECK_INT(outcomes_called(given, N), ==, 0);
	}
	lab_proxy_heal(proxy);
	for (int i = 0; i < N; i++)
		CHECK_OK(outcome_of(&given[i]));
	outcomes_leave(c);
}

static struct dlock_stats stats_of(dlock_client *c)
{
	struct dlock_stats s = { .size = sizeof(s) };

	CHECK_OK(dlock_get_stats(c, &s));
	return s;
}

/* A renewal may take a third of the lease. */
void alone_renews_without_a_wait(const char *uri, struct lab_proxy *proxy)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;
	dlock_hold *h;
	int64_t left_ms;

	o.no_threads = 1;
	c = client_of_case(uri, &o);
	h = take(mutex(c, "x"), patience_ms());
	left_ms = dlock_remaining_ms(h);
	lab_proxy_hole(proxy, LAB_UP, 1);
	while (dlock_remaining_ms(h) > left_ms * 6 / 10) {
		(void)dlock_wait(c, 10);
		CHECK_INT(stats_of(c).renew_failed, ==, 0);
	}
	CHECK_INT(stats_of(c).renewed, ==, 0);
	lab_proxy_heal(proxy);
	CHECK_OK(dlock_release(h)); /* this thread takes the answer in */
}

/* A clean-up that waited would take as long as a request may. */
void alone_cleans_up_without_a_wait(const char *uri, struct lab_proxy *proxy)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	int64_t begin, most_ms = 5000;
	struct outcome late = { 0 };
	dlock_client *c;
	dlock_op op;

	o.no_threads = 1;
	c = client_of_case(uri, &o);
	lab_proxy_hole(proxy, LAB_UP, 1);
	op = ask_async(&late, unbound_mutex(c, "x"), -1);
	run_dry(c);
	begin = now_ms();
	CHECK_OK(dlock_cancel_op(c, op));
	while (outcomes_called(&late, 1) == 0)
		(void)dlock_wait(c, 10);
	CHECK_RC(late.rc, DLOCK_ECANCELED);
	for (int i = 0; i < 10; i++)
		(void)dlock_wait(c, 10);
	CHECK_INT(stats_of(c).pending_cleanups, ==, 1);
	CHECK_INT(now_ms() - begin, <, most_ms);
	lab_proxy_heal(proxy);
}
