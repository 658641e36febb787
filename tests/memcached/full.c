/* SPDX-License-Identifier: Apache-2.0 */
/* A server with the greatest number of clients. */
#include "support.h"

#include <stdio.h>

enum { PLACES = 32, MORE = PLACES + 8 };

static char uri[64];
static dlock_client *all[MORE];
static int n_all;

/* Open clients until the server takes no more. */
static void fill(void)
{
	int rc;

	do {
		CHECK_INT(n_all, <, MORE);
		rc = dlock_open(&all[n_all], uri, NULL);
		n_all += rc == 0;
	} while (rc == 0);
	CHECK_RC(rc, DLOCK_EUNREACHABLE);
}

/* A place comes free when a client goes; a caller that can wait does. */
static const char *const args[] = { "-c", "32", NULL };
static const struct lab_memcached_options options = { .args = args };

EITHER_WAY_ON(memcached_full, server_with_no_connection_left, &options)
{
	dlock_lock *l = mutex(by_proxy(&s, "ttl=30s"), "x");

	give(take(l));
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?connect=1s",
		 s.server->port);
	fill();
	lab_proxy_refuse(s.proxy, true);
	lab_proxy_reset(s.proxy);
	/* Another client takes the place that is free now. */
	EVENTUALLY(dlock_open(&all[n_all], uri, NULL) == 0);
	n_all++;
	fill();
	lab_proxy_refuse(s.proxy, false);
	ask(l, 300, DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_ACCEPTED), >=, 2);
	dlock_close(all[--n_all]);
	give(take(l));
	while (n_all > 0)
		dlock_close(all[--n_all]);
}
