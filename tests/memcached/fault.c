/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are lost, and requests that are late. */
#include "support.h"

#include <stdio.h>
#include <string.h>

/* The beginning of the request to release. */
static const char *drop_of(const struct scene *s)
{
	static char request[256];

	if (strcmp(s->protocol, "meta") == 0)
		return "md ";
	snprintf(request, sizeof(request), "cas %s 0 -1 ", key_of(s, "lnx"));
	return request;
}

EITHER_WAY(memcached_fault, reply_to_release_is_lost)
{
	dlock_client *c = by_proxy(&s, "ttl=30s&close=300ms");
	dlock_client *other = direct(&s, "");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;

	for (int i = 0; i < 2; i++) {
		h = take(l);
		lab_proxy_swallow(s.proxy, drop_of(&s),
				  i ? LAB_THEN_STRAND : LAB_THEN_CLOSE);
		/* The lost request may have released the lock: no loss. */
		CHECK(dlock_release(h) != DLOCK_ELOST);
		CHECK_INT(lab_proxy_stat(s.proxy, LAB_SWALLOWED), ==, i + 1);
		give(take(mutex(other, "x")));
	}
	/* The request is lost, and is sent again. */
	h = take(l);
	lab_proxy_hole(s.proxy, LAB_UP, true);
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	lab_proxy_reset(s.proxy);
	lab_proxy_hole(s.proxy, LAB_UP, false);
	give(take(mutex(other, "x")));
}
