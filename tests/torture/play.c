/* SPDX-License-Identifier: Apache-2.0 */
#include "torture/torture.h"

#include <stdio.h>

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

void release(struct play *p, dlock_hold *h)
{
	if (h)
		MAY(p, dlock_release(h), DLOCK_OK);
}
