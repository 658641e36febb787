/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous opens, and dlock_wait() beside a callback or a close: more cases
 * of async.c's suite. */
#include "core/fixture.h"

#include <dlock/async.h>

#include "core/client.h"
#include "support/outcome.h"

static pthread_t id, closer;
static struct outcome o;

static atomic_int is_inside, may_end;

static void takes_long(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(r->code);
	is_inside = 1;
	for (int i = 0; i < 3000 && !may_end; i++)
		nap_ms(1);
	(void)dlock_release(r->hold);
}

static void *processes(void *arg)
{
	OK(dlock_wait(client, patience_ms()));
	return arg;
}

CASE(async, a_wait_beside_a_long_callback_ends_in_time)
{
	given_unbound("fake:");
	OK(dlock_acquire_start(lock, -1, takes_long, NULL, NULL));
	id = thread_begin(processes, NULL);
	EVENTUALLY(is_inside);
	OK(dlock_nudge(client));
	REFUSED(dlock_wait(client, 20), DLOCK_EBUSY, "in time");
	may_end = 1;
	pthread_join(id, NULL);
}

/* Counts the threads in dlock_wait(). */
PEEK(unsigned int, waits, c->asyncs.waits)

static void *waits_long(void *arg)
{
	*(int *)arg = dlock_wait(client, 600000);
	return NULL;
}

/* The time of the suspension counts, and no timer of the kernel's that sleeps
 * with the machine. */
CASE(async, a_wait_ends_when_its_time_passes_while_the_machine_sleeps)
{
	int rc;

	clock_leaps(0);
	given_client("fake:");
	id = thread_begin(waits_long, &rc);
	EVENTUALLY(waits(client) == 1);
	clock_leaps(3600000);
	pthread_join(id, NULL);
	cr_assert_eq(rc, DLOCK_EBUSY);
}

/* ---- The close ----------------------------------------------------------- */

struct waiter {
	pthread_t thread;
	dlock_client *client;
	int rc;
};

static void *waits_for_ever(void *arg)
{
	struct waiter *w = arg;

	w->rc = dlock_wait(w->client, FOREVER);
	return NULL;
}

static void waiter_starts(struct waiter *w, dlock_client *c)
{
	w->client = c;
	w->thread = thread_begin(waits_for_ever, w);
}

static int waiter_join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->rc;
}

static void *processes_many(void *arg)
{
	cr_assert_eq(dlock_process(arg, 64), 0);
	return NULL;
}

PEEK(enum dlki_close_state, close_of, c->close_is)

/* The callback is under way when only the end of the close is left. */
CASE(async, a_close_beside_a_callback_is_finished_once)
{
	dlock_client *c;

	given_unbound("fake:");
	c = client;
	OK(dlock_acquire_start(lock, 0, takes_long, NULL, NULL));
	EVENTUALLY(dlock_due_ms(c) == 0);
	id = thread_begin(processes_many, c);
	EVENTUALLY(is_inside);
	closer = client_closes();
	EVENTUALLY(close_of(c) == DLKI_CLOSE_ENDS);
	may_end = 1;
	pthread_join(id, NULL);
	pthread_join(closer, NULL);
}

static void ends_late(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(r->code);
	is_inside = 1;
	EVENTUALLY(may_end);
}

PEEK(uint64_t, refs, c->refs)

/* Another thread has the end already. */
CASE(async, a_close_beside_the_end_of_another_waits_for_that)
{
	dlock_client *c;
	struct waiter w;

	given_client("fake:");
	c = client;
	waiter_starts(&w, c);
	EVENTUALLY(waits(c) == 1);
	OK(dlock_close_start(c, ends_late, NULL));
	EVENTUALLY(is_inside);
	closer = client_closes();
	EVENTUALLY(refs(c) == 2);
	may_end = 1;
	pthread_join(closer, NULL);
	OK(waiter_join(&w));
}

static atomic_int told;

static void tells_late(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	(void)arg;
	told++;
	EVENTUALLY(may_end);
}

/* Otherwise the descriptor would tell a later wait nothing. */
CASE(async, the_end_of_a_close_is_one_threads)
{
	dlock_client *c;
	struct waiter w;

	options.on_log = tells_late;
	given_client("fake:");
	c = client;
	OK(dlock_events_by_process(c));
	fake_log(fake, "told at the end");
	closer = client_closes();
	EVENTUALLY(told);
	REFUSED(dlock_process(c, 0), DLOCK_EBUSY, "another thread");
	waiter_starts(&w, c);
	cr_assert_eq(waiter_join(&w), DLOCK_ECANCELED);
	may_end = 1;
	pthread_join(closer, NULL);
}

/* ---- Opening ------------------------------------------------------------- */

static dlock_client *opens(struct outcome *o, const char *uri)
{
	dlock_client *c = NULL;
	dlock_lock *none = NULL;

	OK(dlock_open_start(uri, NULL, &c, outcome_note, o));
	cr_assert_eq(dlock_pending(c), 1);
	INVALID(dlock_mutex_new(&none, c, "a"), "not open");
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
	dlock_lock *none = NULL;
	dlock_client *c;

	FAKE_SCRIPT(fake, FAKE_OPEN, .delay_ms = 50, .fault = FAKE_CODE,
		    .code = DLOCK_EDENIED);
	c = opens(&o, "fake:");
	OK(dlock_wait(c, patience_ms()));
	cr_assert_eq(o.rc, DLOCK_EDENIED);
	cr_assert(o.client == c);
	INVALID(dlock_mutex_new(&none, c, "a"), "not open");
	closes(c);
}
