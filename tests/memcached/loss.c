/* SPDX-License-Identifier: Apache-2.0 */
/* The client finds losses in time, and the next token is larger. */
#include "support.h"

#include <string.h>

static dlock_hold *take_kind(dlock_client *c, int kind)
{
	if (kind == 2)
		return take_shared(rwlock(c, "x"), patience_ms());
	return take(kind == 0 ? mutex(c, "x") :
		    kind == 3 ? semaphore(c, "x", 2) :
				rwlock(c, "x"));
}

/* The release finds the loss before a renewal is due. */
EITHER_WAY(memcached_loss, seen_by_the_release)
{
	dlock_client *c = direct(&s, "ttl=30s");
	dlock_client *other = direct(&s, "ttl=30s");

	for (int kind = 0; kind < 4; kind++) {
		for (int taken = 0; taken < 2; taken++) {
			dlock_hold *h = take_kind(c, kind), *next = NULL;

			scene_do(&s, "flush_all", NULL);
			if (taken)
				next = take_kind(other, kind);
			CHECK_OK(dlock_check(h));
			CHECK_RC(dlock_release(h), DLOCK_ELOST);
			CHECK_TEXT(dlock_errmsg(), "no longer had it");
			if (taken)
				give(next);
			give(take_kind(c, kind));
		}
	}
}
