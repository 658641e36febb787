/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_lost, .timeout = 120);

/* The first request released the lock, the second finds none: no loss.  The
 * connection was idle, so the second request follows at once. */
CASE(redis_lost, of_a_release_is_lost_and_the_lock_was_not)
{
	struct lab_server *server = server_start(NULL);
	struct lab_proxy *proxy = proxy_of_case(server);
	dlock_client *far;
	dlock_lock *l;

	healed_at_end(proxy);
	far = client_of(lab_proxy_port(proxy), "ttl=30s", NULL);
	warm_up(far);
	l = mutex(far, "x");
	for (uint64_t i = 0; i < 5; i++) {
		dlock_hold *h = take(l, patience_ms());
		uint64_t run = scripts_run(server);

		lab_proxy_swallow(proxy, "EVAL",
				  i % 2 ? LAB_THEN_CLOSE : LAB_THEN_RESET);
		CHECK_OK(dlock_release(h));
		CHECK_INT(lab_proxy_wait(proxy, LAB_SWALLOWED, i + 1,
					 patience_ms()),
			  ==, 0);
		CHECK_INT((int)(scripts_run(server) - run), ==, 2);
	}
	CHECK_INT((int)stats(far).lost, ==, 0);
}
