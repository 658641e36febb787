/* SPDX-License-Identifier: Apache-2.0 */
/* Tries on a new name, and tries that meet other tries. */
#include "zk/support.h"
#include "support/ticket.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_tries, .timeout = 120);

#define DIR "/dlock/lnlock"
#define OWNER "0123456789abcdef0123456789abcdef"

/* A try has time for two answers, and not for four.  The client adds a second
 * at most, which is time for several answers, too. */
static int64_t answer_ms(void)
{
	return slowness() > 1 ? 150 : 50;
}

static int64_t ask_ms(void)
{
	return 3 * answer_ms();
}

/* The client does not measure the time for an answer. */
static dlock_client *client_of(int port, const char *prefix)
{
	char params[64];

	snprintf(params, sizeof(params), "?ask=%lldms&prefix=%s",
		 (long long)ask_ms(), prefix);
	return client(port, params);
}

static int64_t failing_ms(dlock_lock *l, int64_t timeout_ms, int code)
{
	int64_t began = now_ms();
	dlock_hold *none = NULL;

	CHECK_RC(dlock_acquire(l, timeout_ms, &none), code);
	return now_ms() - began;
}

static int64_t try_ms(dlock_lock *l, int code)
{
	return failing_ms(l, 0, code);
}

/* The first try makes the nodes of a prefix and a name, the second a name. */
SHARED(zk_tries, have_time_to_make_nodes)
{
	struct lab_proxy *p = proxy(s);
	char prefix[16];

	lab_proxy_delay(p, LAB_DOWN, answer_ms());
	for (int i = 0; i < 5; i++) {
		dlock_hold *h = NULL;
		dlock_client *c;

		snprintf(prefix, sizeof(prefix), "new%d", i);
		c = client_of(lab_proxy_port(p), prefix);
		CHECK_OK(dlock_acquire(mutex(c, "one"), 0, &h));
		CHECK_OK(dlock_release(h));
		CHECK_OK(dlock_acquire(mutex(c, "two"), 0, &h));
		CHECK_OK(dlock_release(h));
	}
}

/* Without `ask` in the URI, opening measures the time of a write. */
SHARED(zk_tries, wait_for_a_distant_store_from_the_first_on)
{
	struct lab_proxy *p = proxy(s);
	dlock_hold *h = NULL, *no_hold = NULL;
	dlock_lock *l;

	lab_proxy_delay(p, LAB_DOWN, 60);
	l = mutex(client(lab_proxy_port(p), ""), "lock");
	CHECK_OK(dlock_acquire(l, 0, &h));
	CHECK_OK(dlock_release(h));
	h = take(mutex(client(s->port, "?ask=5s"), "lock"));
	EVENTUALLY(dlock_acquire(l, 0, &no_hold) == DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
}

SHARED(zk_tries, of_a_silent_store_end_in_time)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client_of(lab_proxy_port(p), "dlock");
	dlock_lock *l = mutex(c, "lock");

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	lab_proxy_hole(p, LAB_DOWN, true);
	CHECK_WITHIN(try_ms(l, DLOCK_EUNREACHABLE), 2 * ask_ms() - 1);
	lab_proxy_heal(p);
}

/* ---- Tries that meet ----------------------------------------------------- */

static const char of_a_try[] = "another\0000 try";
static const char of_a_holder[] = "another\0000";

/* Make the node of another try. */
static void queue_a_try(char path[256])
{
	CHECK_INT(zoo_create(bare(), DIR "/" OWNER "-x-", of_a_try,
			     sizeof(of_a_try) - 1, &ZOO_OPEN_ACL_UNSAFE,
			     ZOO_EPHEMERAL_SEQUENTIAL, path, 256),
		  ==, ZOK);
}

/* Start a try behind the other try's node.  A server may delete a directory
 * without nodes. */
static void meet(struct taker *t, dlock_lock *l, char path[256])
{
	dlock_hold *h = take(l, PATIENCE);

	queue_a_try(path);
	CHECK_OK(dlock_release(h));
	taker_start(t, l, 0);
	EVENTUALLY(t->done || children(DIR, NULL) == 2);
	ALL_ALONG(100, !t->done);
}

SHARED(zk_tries, wait_for_a_try_that_is_given_up)
{
	dlock_client *c = client(s->port, "?ask=5s");
	struct taker t = { 0 };
	char path[256];

	meet(&t, mutex(c, "lock"), path);
	CHECK_INT(zoo_delete(bare(), path, -1), ==, ZOK);
	CHECK_OK(taker_join(&t));
	CHECK(children_are(DIR, 0));
}

/* The client of a granted try rewrites the node's data. */
SHARED(zk_tries, are_busy_when_another_is_granted)
{
	dlock_client *c = client(s->port, "?ask=5s");
	struct taker t = { 0 };
	char path[256];

	meet(&t, mutex(c, "lock"), path);
	CHECK_INT(zoo_set(bare(), path, of_a_holder, sizeof(of_a_holder) - 1,
			  -1),
		  ==, ZOK);
	CHECK_INT(taker_join(&t), ==, DLOCK_EBUSY);
	CHECK_INT(children(DIR, NULL), ==, 1);
}

/* The other client was killed: the node stays for the rest of the session. */
SHARED(zk_tries, do_not_wait_for_ever)
{
	dlock_client *c = client_of(s->port, "dlock");
	dlock_lock *l = mutex(c, "lock");
	char path[256];

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	queue_a_try(path);
	CHECK_WITHIN(try_ms(l, DLOCK_EBUSY), 6 * ask_ms());
	CHECK_INT(children(DIR, NULL), ==, 1);
}

/* The node of another try is in the way to the end of the wait.  A wait has the
 * timeout and the time for an answer. */
SHARED(zk_tries, are_not_waited_for_by_waits)
{
	dlock_client *c = client_of(s->port, "dlock");
	dlock_lock *pair[] = { mutex(c, "a"), mutex(c, "lock") }, *both = NULL;
	char path[256];

	for (int i = 0; i < 2; i++)
		CHECK_OK(dlock_release(take(pair[i], PATIENCE)));
	CHECK_OK(dlock_multi_new(&both, pair, 2));
	queue_a_try(path);
	CHECK_WITHIN(failing_ms(pair[1], ask_ms(), DLOCK_EBUSY),
		     3 * ask_ms() - 1);
	CHECK_WITHIN(failing_ms(both, ask_ms(), DLOCK_EBUSY), 3 * ask_ms() - 1);
	CHECK_INT(children(DIR, NULL), ==, 1);
	dlock_lock_free(both);
}

/* No anchor was made on the connection: a try would have more time. */
SHARED(zk_tries, of_a_silent_store_tell_waits_apart)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client_of(lab_proxy_port(p), "dlock");
	struct ticket t = { 0 };
	int64_t began;

	lab_proxy_hole(p, LAB_DOWN, true);
	ticket_make(&t, c, DLK_EXCLUSIVE);
	t.base.last = 1;
	began = now_ms();
	CHECK_INT(ticket_ask_for(&t, ask_ms()), ==, DLK_FAILED);
	CHECK_INT(now_ms() - began, <, 2 * ask_ms());
	lab_proxy_heal(p);
}
