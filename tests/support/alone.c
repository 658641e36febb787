/* SPDX-License-Identifier: Apache-2.0 */
#include "support/alone.h"

#include <poll.h>

#include "support/check.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/outcome.h"

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
