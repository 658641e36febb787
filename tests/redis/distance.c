/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is 150 ms away or more, with a URI that does not say so. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_distance, .timeout = 120);

/* Also by the first try: the server does not know the scripts yet. */
CASE(redis_distance, of_150_ms_is_bridged_by_every_try)
{
	struct lab_proxy *proxy = proxy_of_case(server_start(NULL));
	dlock_lock *l;

	healed_at_end(proxy);
	lab_proxy_delay(proxy, LAB_UP, 75);
	lab_proxy_delay(proxy, LAB_DOWN, 75);
	/* Unlike client_of(), without ask=. */
	l = mutex(client_of_case(uri_of(lab_proxy_port(proxy), NULL), NULL),
		  "x");
	for (int i = 0; i < 5; i++)
		give(take(l, 0));
}
