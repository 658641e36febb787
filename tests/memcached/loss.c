/* SPDX-License-Identifier: Apache-2.0 */
/* The client finds losses in time, and the next token is larger. */
#include "support.h"

#include <stdio.h>
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
	struct scene s = scene_new(protocol, NULL);
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

/* An `add` sent before the server lost all items arrives now: not the granted
 * attempt, but another attempt of the same owner. */
static void add_again(const struct scene *s)
{
	char item[512], format[16], owner[64];
	const char *text = strstr(scene_do(s, "get %s", "lnx"), "\r\n");
	int len = 0;

	CHECK(text);
	CHECK_INT(sscanf(text, "%15s %63s %*s %n", format, owner, &len), ==, 2);
	snprintf(item, sizeof(item), "%s %s 0.77 %.*s", format, owner,
		 (int)strcspn(text + len, "\r"), text + len);
	scene_do(s, "flush_all", NULL);
	scene_put(s, "add", "lnx", 30, item);
}

/* Other holders may have come and gone before. */
EITHER_WAY(memcached_loss, is_not_made_good_by_a_late_add)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *quick = direct(&s, "ttl=3s");
	dlock_client *slow = direct(&s, "ttl=30s");
	dlock_hold *h = take(mutex(quick, "x"));
	int64_t since;

	add_again(&s);
	since = now_ms();
	found_lost(h, quick, since);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	h = take(mutex(slow, "x"));
	add_again(&s);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}
