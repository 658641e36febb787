/* SPDX-License-Identifier: Apache-2.0 */
/* Several permits at once: a slot for each. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#define OWNER "0123456789abcdef0123456789abcdef"

static int ask_for(dlock_lock *l, uint32_t n, int64_t timeout_ms,
		   dlock_hold **out)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.permits = n;
	o.timeout_ms = timeout_ms;
	return dlock_acquire_opts(l, &o, out);
}

static dlock_hold *take_some(dlock_lock *l, uint32_t n)
{
	dlock_hold *h = NULL;

	CHECK_OK(ask_for(l, n, patience_ms(), &h));
	return h;
}

/* Return the owner of the item, or "". */
static const char *owner_of(const struct scene *s, const char *key)
{
	static char owner[33];
	const char *at = strstr(scene_do(s, "get %s", key), "dlock1 ");

	snprintf(owner, sizeof(owner), "%s", at ? at + 7 : "");
	return owner;
}

static void note_most(const struct dlock_participant *p, void *arg)
{
	uint32_t *most = arg;

	CHECK(!p->waiting);
	CHECK_INT(p->limit, ==, 100);
	if (p->permits > *most)
		*most = p->permits;
}

/* As earlier versions count: each permit is an item. */
EITHER_WAY(memcached_at_once, each_permit_has_a_slot)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 4);
	dlock_hold *h, *none = NULL;
	char owner[33];

	scene_put(&s, "set", "sns.1", 60, "dlock1 " OWNER " 0.1 4 single");
	h = take_some(l, 3);
	snprintf(owner, sizeof(owner), "%s", owner_of(&s, "sns.0"));
	CHECK(owner[0]);
	CHECK(strcmp(owner_of(&s, "sns.1"), OWNER) == 0);
	CHECK(strcmp(owner_of(&s, "sns.2"), owner) == 0);
	CHECK(strcmp(owner_of(&s, "sns.3"), owner) == 0);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	give(h);
	CHECK_RC(ask_for(l, 4, 0, &none), DLOCK_EBUSY);
	CHECK(!owner_of(&s, "sns.0")[0]);
	CHECK(!owner_of(&s, "sns.3")[0]);
	scene_do(&s, "delete %s", "sns.1");
	give(take_some(l, 4));
}

/* More than fit into a request. */
EITHER_WAY(memcached_at_once, many_are_renewed)
{
	dlock_client *c = direct(&s, "ttl=2s");
	dlock_lock *l = semaphore(c, "s", 100);
	dlock_hold *h = take_some(l, 90), *none = NULL;
	uint32_t most = 0;

	/* Of 667 ms each: longer than an item lives without renewals. */
	EVENTUALLY(stats(c).renewal_lag.count >= 9);
	CHECK_OK(dlock_check(h));
	CHECK_OK(dlock_inspect(l, note_most, &most, patience_ms()));
	CHECK_INT(most, ==, 90);
	CHECK_RC(ask_for(l, 11, 0, &none), DLOCK_EBUSY);
	give(take_some(l, 10));
	give(h);
	give(take_some(l, 100));
}

/* With an item goes the hold. */
EITHER_WAY(memcached_at_once, without_an_item_the_hold_is_lost)
{
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_lock *l = semaphore(c, "s", 3);
	dlock_hold *h = take_some(l, 3);
	int64_t since_ms = now_ms();

	scene_do(&s, "delete %s", "sns.1");
	found_lost(h, c, since_ms);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	give(take_some(l, 3));
}

/* The item at the gate keeps later requests waiting. */
EITHER_WAY(memcached_at_once, a_waiter_is_at_the_gate)
{
	dlock_lock *l = semaphore(direct(&s, ""), "s", 3);
	dlock_hold *one = take(l), *none = NULL;

	CHECK_RC(ask_for(l, 3, 0, &none), DLOCK_EBUSY);
	CHECK(!owner_of(&s, "sns")[0]);
	scene_put(&s, "set", "sns", 60, "dlock1 " OWNER " 3 3 waits");
	CHECK_RC(dlock_acquire(l, 100, &none), DLOCK_EBUSY);
	CHECK_RC(ask_for(l, 2, 100, &none), DLOCK_EBUSY);
	scene_do(&s, "delete %s", "sns");
	CHECK_RC(ask_for(l, 3, 200, &none), DLOCK_EBUSY);
	CHECK(!owner_of(&s, "sns")[0]);
	give(take_some(l, 2));
	give(one);
}
