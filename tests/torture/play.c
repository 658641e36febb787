/* SPDX-License-Identifier: Apache-2.0 */
#include "torture/torture.h"

#include <stdio.h>
#include <string.h>

int may(struct play *p, const char *call, int rc, int want)
{
	if (rc == want)
		return 1;
	for (const int *code = p->codes; *code; code++) {
		if (rc == *code) {
			p->hurt++;
			return 0;
		}
	}
	if (p->failed++ == 0)
		snprintf(p->text, sizeof(p->text), "%s: %s (%s), not %s", call,
			 dlock_errname(rc), dlock_errmsg(),
			 dlock_errname(want));
	return 0;
}

void must(struct play *p, const char *what, int is_so)
{
	if (!is_so && p->failed++ == 0)
		snprintf(p->text, sizeof(p->text), "not so: %s", what);
}

/* Each request of zk: and memcached: needs some. */
int released(const struct play *p, int rc, const char *why)
{
	int may = strncmp(p->uri, "zk:", 3) == 0 ||
		  strncmp(p->uri, "memcached:", 10) == 0;

	return rc == DLOCK_EUNREACHABLE && may && strstr(why, "out of memory") ?
		       DLOCK_ENOMEM :
		       rc;
}

void release(struct play *p, dlock_hold *h)
{
	int rc;

	if (!h)
		return;
	rc = dlock_release(h);
	MAY(p, released(p, rc, dlock_errmsg()), DLOCK_OK);
}
