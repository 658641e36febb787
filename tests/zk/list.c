/* SPDX-License-Identifier: Apache-2.0 */
/* A list of more locks than there are round trips in the time. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(zk_list, .timeout = 120);

enum { LOCKS = 300, TRIP_MS = 20 };

/* A round trip for each lock would take six seconds. */
SHARED(zk_list, tells_of_many_locks_in_a_few_round_trips)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *holder = client(s->port, "?ttl=30s");
	dlock_client *c = client(lab_proxy_port(p), "?ttl=30s");
	char name[32];
	int n = 0;

	for (int i = 0; i < LOCKS; i++) {
		snprintf(name, sizeof(name), "lock%d", i);
		take(i % 2 ? mutex(holder, name) : semaphore(holder, name, 3));
	}
	lab_proxy_delay(p, LAB_DOWN, TRIP_MS);
	CHECK_OK(dlock_list(c, count_entry, &n, LOCKS * TRIP_MS / 2));
	CHECK_INT(n, ==, LOCKS);
}
