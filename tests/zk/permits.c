/* SPDX-License-Identifier: Apache-2.0 */
/* The set number of a semaphore, and the carriers in the server. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(zk_permits, .timeout = 120);

static dlock_hold *a, *b;

#define DIR "/dlock/sns"
#define STRANGER DIR "/0123456789abcdef0123456789abcdef-s5-"

static struct lab_server *s;
static dlock_client *c, *d;
static dlock_lock *mine, *theirs;

static void set_up(uint32_t permits, uint32_t others)
{
	s = shared_server();
	c = client(s->port, "?ttl=30s&ask=5s");
	d = client(s->port, "?ttl=30s&ask=5s");
	mine = semaphore(c, "s", permits);
	theirs = semaphore(d, "s", others);
}

static void set_limit(uint32_t permits)
{
	CHECK_OK(dlock_semaphore_resize(theirs, permits, PATIENCE));
}

static struct dlock_permits permits(void)
{
	struct dlock_permits p = { .size = sizeof(p) };

	CHECK_OK(dlock_semaphore_permits(mine, &p, PATIENCE));
	return p;
}

static void note_permits(const struct dlock_lock_info *e, void *arg)
{
	*(uint32_t *)arg = e->permits;
}

static uint32_t listed(void)
{
	uint32_t n = 0;

	CHECK_OK(dlock_list(c, note_permits, &n, PATIENCE));
	return n;
}

static void busy(void)
{
	is_busy(mine);
	is_busy(theirs);
}

/* Make a node as of a client that was killed while it joined. */
static void join_and_die(void)
{
	CHECK_INT(zoo_create(bare(), STRANGER, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			     ZOO_EPHEMERAL_SEQUENTIAL, NULL, 0),
		  ==, ZOK);
}

/* The number counts if a carrier stands behind such nodes. */
CASE(zk_permits, set_are_found_behind_those_that_join)
{
	set_up(5, 5);
	a = take(mine);
	set_limit(4);
	join_and_die();
	join_and_die();
	b = take(theirs);
	give(a);
	CHECK_INT(permits().limit, ==, 4);
	CHECK_INT(listed(), ==, 4);
	a = take(mine);
	busy();
	give(a);
	give(b);
}

/* ---- A request that is late ---------------------------------------------- */

static struct lab_proxy *way;
static struct taker late;

/* A semaphore of five has so many permits, and a holder. */
static void set_up_shrunk(uint32_t permits)
{
	set_up(5, 5);
	a = take(mine);
	set_limit(permits);
}

/* Another client joins, and the first request with `part` is held back. */
static void join_late(const char *part)
{
	dlock_client *e;

	way = proxy(s);
	e = client(lab_proxy_port(way), "?ttl=30s&ask=5s");
	lab_proxy_hold(way, part);
	late.linger = 1;
	taker_start(&late, semaphore(e, "s", 5), FOREVER);
	EVENTUALLY(lab_proxy_stat(way, LAB_HELD) == 1);
}

/* The request arrives: are there so many permits then? */
static void arrive(uint32_t permits_then)
{
	lab_proxy_heal(way);
	EVENTUALLY(late.done);
	CHECK_OK(late.rc);
	CHECK_INT(permits().limit, ==, permits_then);
	CHECK_OK(let_go(&late));
}

/* The client reads the carrier's node, when another client is a carrier and the
 * first has gone. */
CASE(zk_permits, set_are_carried_on_behind_a_node_that_has_gone)
{
	char name[256];

	set_up_shrunk(4);
	CHECK_INT(children(DIR, name), ==, 1);
	join_late(name);
	b = take(theirs);
	give(a);
	arrive(4);
	give(b);
}

/* The client becomes a carrier when the last carrier has gone. */
CASE(zk_permits, set_are_not_carried_on_behind_the_last)
{
	set_up_shrunk(4);
	join_late(" set");
	give(a);
	arrive(5);
}

/* The client forgets a number when another number has been set. */
CASE(zk_permits, set_anew_are_not_forgotten)
{
	set_up_shrunk(4);
	give(a);
	join_late("5 s");
	set_limit(3);
	arrive(3);
}

/* The holders beyond the set number hold until they release. */
CASE(zk_permits, shrunk_are_shown_and_broken)
{
	struct taker t = { 0 };
	dlock_hold *h[4];

	set_up(4, 4);
	for (int i = 0; i < 4; i++)
		h[i] = take(mine);
	taker_queue(&t, d, theirs, FOREVER);
	set_limit(3);
	set_limit(1);
	CHECK_INT(permits().limit, ==, 1);
	CHECK_INT(permits().held, ==, 4);
	CHECK_INT(permits().free, ==, 0);
	CHECK_OK(dlock_break(theirs, PATIENCE));
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	for (int i = 0; i < 4; i++) {
		EVENTUALLY(dlock_check(h[i]) == DLOCK_ELOST);
		CHECK_RC(dlock_release(h[i]), DLOCK_ELOST);
	}
	busy();
	let_go(&t);
}

/* A request that will be refused, for another number, is no holder. */
CASE(zk_permits, shrunk_are_not_had_by_the_refused)
{
	set_up(1, 1);
	a = take(mine);
	join_and_die();
	set_limit(1);
	CHECK_INT(permits().held, ==, 1);
	give(a);
}

/* Delete the stranger's node, or the only other node than that and `held`. */
static void drop_one(const char *held, int stranger)
{
	struct String_vector v = { 0 };

	CHECK_INT(zoo_get_children(bare(), DIR, 0, &v), ==, ZOK);
	CHECK_INT(v.count, ==, 3);
	for (int i = 0; i < v.count; i++) {
		if (strcmp(v.data[i], held) != 0 &&
		    (strncmp(v.data[i], "0123456789", 10) == 0) == stranger)
			drop(DIR, v.data[i]);
	}
	deallocate_String_vector(&v);
}

/* A waiter that waits for a request with another number to be refused. */
CASE(zk_permits, of_a_deleted_waiter_are_asked_for_at_once)
{
	struct taker t = { 0 };
	char held[256];
	int64_t begun;

	set_up(3, 3);
	a = take(mine);
	CHECK_INT(children(DIR, held), ==, 1);
	join_and_die();
	taker_queue(&t, d, theirs, FOREVER);
	drop_one(held, 0);
	begun = now_ms();
	EVENTUALLY(children_are(DIR, 3));
	CHECK_INT(now_ms() - begun, <, 5000);
	drop_one(held, 1);
	EVENTUALLY(t.done);
	CHECK_OK(let_go(&t));
	give(a);
}

/* Each waiter lists once, whether there is room or not. */
CASE(zk_permits, set_wake_each_waiter_once)
{
	enum { WAITERS = 6 };
	struct taker t[WAITERS] = { 0 };
	uint64_t before;

	set_up(1, 1);
	a = take(mine);
	for (int i = 0; i < WAITERS; i++)
		taker_queue(&t[i], d, theirs, FOREVER);
	before = stats(d).attempts;
	CHECK_OK(dlock_semaphore_resize(mine, 2, PATIENCE));
	EVENTUALLY(t[0].done);
	CHECK_OK(t[0].rc);
	EVENTUALLY(stats(d).attempts >= before + WAITERS);
	nap_ms(300);
	CHECK_INT(stats(d).attempts - before, <=, WAITERS + 2);
	CHECK_OK(dlock_semaphore_resize(mine, WAITERS + 1, PATIENCE));
	for (int i = 1; i < WAITERS; i++)
		EVENTUALLY(t[i].done);
	for (int i = 0; i < WAITERS; i++)
		CHECK_OK(let_go(&t[i]));
	give(a);
}
