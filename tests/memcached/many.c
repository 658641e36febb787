/* SPDX-License-Identifier: Apache-2.0 */
/* More holds than there is time to tell of. */
#include "support.h"

#include <stdio.h>

#include "support/cancel.h"

enum { HOLDS = 6000 };

/* There is one deadline for all that is left to be told. */
EITHER_WAY(memcached_many, close_in_time_with_a_server_that_is_silent)
{
	struct scene s = scene_new(protocol, NULL);
	static dlock_lock *l[HOLDS];
	static dlock_hold *h[HOLDS];
	dlock_client *c = NULL;
	char text[64];
	int64_t begun;

	snprintf(text, sizeof(text), "memcached://127.0.0.1:%d/?close=300ms",
		 s.server->port);
	CHECK_OK(dlock_open(&c, text, NULL));
	for (int i = 0; i < HOLDS; i++) {
		snprintf(text, sizeof(text), "%d", i);
		CHECK_OK(dlock_mutex_new(&l[i], c, text));
		h[i] = take(l[i]);
	}
	lab_server_pause(s.server);
	begun = now_ms();
	dlock_close(c);
	CHECK_INT(now_ms() - begun, <, 300 + 50 + slack_ms());
	lab_server_resume(s.server);
	for (int i = 0; i < HOLDS; i++) {
		CHECK_RC(dlock_release(h[i]), DLOCK_ELOST);
		dlock_lock_free(l[i]);
	}
	scene_end(&s);
}

/* The request that is under way is not waited for. */
EITHER_WAY(memcached_many, cancelled_waits_come_back_from_a_silent_server)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=10s&connect=5s&close=5s&ask=40ms");
	dlock_lock *l = mutex(c, "x");

	give(take(l));
	lab_server_pause(s.server);
	CHECK_WITHIN(cancel_wait_ms(c, l), 40 + slack_ms());
	lab_server_resume(s.server);
	scene_end(&s);
}
