/* SPDX-License-Identifier: Apache-2.0 */
/* A server that has as many clients as it takes. */
#include "support.h"

#include <stdio.h>

/* A place comes free when a client goes; a caller that can wait does. */
EITHER_WAY(memcached_full, server_with_no_connection_left)
{
	static const char *const args[] = { "-c", "32", NULL };
	const struct lab_memcached_options options = { .args = args };
	struct scene s = scene_new(protocol, &options);
	dlock_lock *l = mutex(by_proxy(&s, ""), "x");
	dlock_client *all[40];
	char uri[64];
	int n = 0, rc;

	give(take(l));
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d/?connect=1s",
		 s.server->port);
	do {
		all[n] = NULL;
		rc = dlock_open(&all[n], uri, NULL);
	} while (rc == 0 && ++n < 39);
	CHECK_RC(rc, DLOCK_EUNREACHABLE);
	lab_proxy_reset(s.proxy);
	EVENTUALLY(dlock_open(&all[n], uri, NULL) == 0);
	ask(l, 300, DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(s.proxy, LAB_ACCEPTED), >, 2);
	n++;
	while (n > 0)
		dlock_close(all[--n]);
	give(take(l));
	scene_end(&s);
}
