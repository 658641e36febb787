/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous opens, and dlock_wait() beside a callback: more cases of
 * async.c's suite. */
#include "core/fixture.h"

#include <dlock/async.h>

#include "support/outcome.h"

static atomic_int is_inside, may_end;

static void takes_long(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(r->code);
	is_inside = 1;
	for (int i = 0; i < 3000 && !may_end; i++)
		nap_ms(1);
	OK(dlock_release(r->hold));
}

static void *processes(void *arg)
{
	OK(dlock_wait(client, patience_ms()));
	return arg;
}

CASE(async, a_wait_beside_a_long_callback_ends_in_time)
{
	pthread_t id;

	given_unbound("fake:");
	OK(dlock_acquire_start(lock, -1, takes_long, NULL, NULL));
	cr_assert_eq(pthread_create(&id, NULL, processes, NULL), 0);
	EVENTUALLY(is_inside);
	OK(dlock_nudge(client));
	REFUSED(dlock_wait(client, 20), DLOCK_EBUSY, "in time");
	may_end = 1;
	pthread_join(id, NULL);
}

static dlock_client *opens(struct outcome *o, const char *uri)
{
	dlock_client *c = NULL;
	dlock_lock *none = NULL;

	OK(dlock_open_start(uri, NULL, &c, outcome_note, o));
	cr_assert_eq(dlock_pending(c), 1);
	REFUSED(dlock_mutex_new(&none, c, "a"), DLOCK_EINVAL, "not open");
	cr_assert_eq(dlock_caps(c), 0);
	return c;
}

static void closes(dlock_client *c)
{
	static struct outcome o;

	OK(dlock_close_start(c, outcome_note, &o));
	while (o.calls == 0)
		OK(dlock_wait(c, patience_ms()));
	OK(o.rc);
}

CASE(async, a_store_that_does_not_open_says_why)
{
	static struct outcome o;
	dlock_lock *none = NULL;
	dlock_client *c;

	FAKE_SCRIPT(fake, FAKE_OPEN, .delay_ms = 50, .fault = FAKE_CODE,
		    .code = DLOCK_EDENIED);
	c = opens(&o, "fake:");
	OK(dlock_wait(c, patience_ms()));
	cr_assert_eq(o.rc, DLOCK_EDENIED);
	cr_assert(o.client == c);
	REFUSED(dlock_mutex_new(&none, c, "a"), DLOCK_EINVAL, "not open");
	closes(c);
}

/* An open at a refusing server goes on for a minute. */
CASE(async, opening_ends_when_the_client_closes)
{
	static struct outcome o;
	dlk_time begun = dlk_now();
	dlock_client *c;

	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_REFUSE, .times = 1000);
	c = opens(&o, "fake:?connect=60s&retry_min=30s&retry_max=60s");
	closes(c);
	cr_assert_eq(o.calls, 1);
	cr_assert_eq(o.rc, DLOCK_ECANCELED);
	cr_assert_lt(dlk_now() - begun, late(10000 * DLK_MS));
	fake_clear(fake);
}
