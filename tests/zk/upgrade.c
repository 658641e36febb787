/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades, and the nodes ahead. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(zk_upgrade, .timeout = 120);

#define DIR "/dlock/lnlock"

struct upgrader {
	pthread_t thread;
	dlock_lock *lock;
	dlock_hold *reads, *writes;
	atomic_int done;
	int rc;
};

static void *upgrade(void *arg)
{
	struct upgrader *u = arg;

	u->rc = dlock_upgrade(u->lock, u->reads, FOREVER, &u->writes);
	u->done = 1;
	return NULL;
}

static void upgrade_start(struct upgrader *u)
{
	cr_assert(pthread_create(&u->thread, NULL, upgrade, u) == 0);
}

/* Any thread may upgrade. */
static struct upgrader reader_of(dlock_client *c)
{
	struct upgrader u = { .rc = 0 };
	dlock_lock *lock = rwlock(c, "lock");

	CHECK_OK(dlock_lock_unbind(lock));
	CHECK_OK(dlock_upgradeable_new(&u.lock, lock));
	u.reads = take(u.lock);
	return u;
}

static void leave(struct upgrader *u)
{
	give(u->reads);
	dlock_lock_free(u->lock);
}

static void await_waiters(dlock_client *c, uint32_t n)
{
	EVENTUALLY(stats(c).waiters == n);
}

/* There are more waiters than a transaction takes. */
SHARED(zk_upgrade, many_waiters_are_overtaken_and_come_back)
{
	enum { READERS = 40 };
	dlock_client *b = client(s->port, "?ttl=30s");
	dlock_client *c = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(s->port, "?ttl=30s"));
	struct taker writer = { 0 }, reader[READERS] = { 0 };
	dlock_lock *shared = rwlock(c, "lock");
	uint64_t token;

	taker_start(&writer, rwlock(b, "lock"), FOREVER);
	EVENTUALLY(children_are(DIR, 2));
	for (int i = 0; i < READERS; i++) {
		reader[i].shared = 1;
		taker_start(&reader[i], shared, FOREVER);
	}
	EVENTUALLY(children_are(DIR, 2 + READERS));
	CHECK_OK(dlock_upgrade(u.lock, u.reads, PATIENCE, &u.writes));
	EVENTUALLY(children_are(DIR, 3 + READERS));
	ALL_ALONG(100, !writer.done);
	for (int i = 0; i < READERS; i++)
		CHECK(!reader[i].done);
	token = dlock_token(u.writes);
	give(u.writes);
	leave(&u);
	CHECK_INT(waiter_join(&writer), ==, DLOCK_OK);
	CHECK(writer.token > token);
	for (int i = 0; i < READERS; i++) {
		CHECK_INT(waiter_join(&reader[i]), ==, DLOCK_OK);
		CHECK(reader[i].token > token);
	}
	EVENTUALLY(children_are(DIR, 0));
}

/* Copy the name of the node with `part`. */
static void find_node(const char *part, char name[256])
{
	struct String_vector all = { 0 };

	cr_assert(zoo_get_children(bare(), DIR, 0, &all) == ZOK);
	*name = '\0';
	for (int i = 0; i < all.count; i++) {
		if (strstr(all.data[i], part))
			snprintf(name, 256, "%s", all.data[i]);
	}
	deallocate_String_vector(&all);
}

SHARED(zk_upgrade, a_try_behind_a_reader_overtakes_nobody)
{
	dlock_client *b = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(s->port, "?ttl=30s"));
	dlock_hold *plain = take_shared(
		rwlock(client(s->port, "?ttl=30s"), "lock"), FOREVER);
	struct taker writer = { 0 };
	char before[256], after[256];

	taker_start(&writer, rwlock(b, "lock"), FOREVER);
	EVENTUALLY(children_are(DIR, 3));
	find_node("-x-", before);
	CHECK_RC(dlock_upgrade(u.lock, u.reads, 0, &u.writes), DLOCK_EBUSY);
	find_node("-x-", after);
	CHECK_TEXT(after, before);
	give(plain);
	CHECK_OK(dlock_upgrade(u.lock, u.reads, 0, &u.writes));
	EVENTUALLY(children_are(DIR, 3));
	find_node("-x-", after);
	CHECK(strcmp(after, before) != 0);
	give(u.writes);
	leave(&u);
	CHECK_INT(waiter_join(&writer), ==, DLOCK_OK);
}

/* Both upgrades are beside the same reader. */
SHARED(zk_upgrade, another_upgrade_is_no_waiter)
{
	dlock_client *b = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(s->port, "?ttl=30s"));
	struct taker writer = { 0 };
	dlock_hold *first = NULL;

	CHECK_OK(dlock_upgrade(u.lock, u.reads, PATIENCE, &first));
	taker_start(&writer, rwlock(b, "lock"), FOREVER);
	await_waiters(b, 1);
	upgrade_start(&u);
	ALL_ALONG(300, !u.done && !writer.done);
	CHECK_OK(dlock_check(first));
	give(first);
	pthread_join(u.thread, NULL);
	CHECK_OK(u.rc);
	CHECK(!writer.done);
	give(u.writes);
	leave(&u);
	CHECK_INT(waiter_join(&writer), ==, DLOCK_OK);
}

/* When the transaction arrives, the reader has gone and the writer has the
 * lock. */
SHARED(zk_upgrade, a_late_transaction_deletes_no_holder)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *b = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(lab_proxy_port(p), "?ttl=30s"));
	struct taker writer = { .keep = 1 };
	dlock_lock *wanted = rwlock(b, "lock");
	char name[256], reader[256];

	CHECK_OK(dlock_lock_unbind(wanted));
	find_node("-s-", reader);
	taker_start(&writer, wanted, FOREVER);
	EVENTUALLY(children_are(DIR, 2));
	find_node("-x-", name);
	lab_proxy_hold(p, name);
	upgrade_start(&u);
	EVENTUALLY(children_are(DIR, 3));
	EVENTUALLY(lab_proxy_stat(p, LAB_HELD) == 1);
	drop(DIR, reader);
	CHECK_INT(waiter_join(&writer), ==, DLOCK_OK);
	lab_proxy_heal(p);
	pthread_join(u.thread, NULL);
	CHECK_INT(u.rc, ==, DLOCK_ELOST);
	EVENTUALLY(children_are(DIR, 1));
	CHECK_OK(dlock_check(writer.hold));
	CHECK_OK(dlock_release(writer.hold));
	CHECK_RC(dlock_release(u.reads), DLOCK_ELOST);
	dlock_lock_free(u.lock);
}

/* Make the node of an upgrade beside a reader that has gone. */
static void make_upgrade(void)
{
	CHECK_INT(zoo_create(bare(),
			     DIR "/0123456789abcdef0123456789abcdef-x0*5-", "",
			     0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL,
			     NULL, 0),
		  ==, ZOK);
}

/* Another reader ahead keeps the upgrade waiting. */
SHARED(zk_upgrade, without_the_reader_is_not_broken)
{
	dlock_lock *l = rwlock(client(s->port, "?ttl=30s"), "lock");
	dlock_hold *h = take_shared(l, FOREVER);

	make_upgrade();
	CHECK_OK(dlock_break(l, PATIENCE));
	CHECK_INT(children(DIR, NULL), ==, 1);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* When the transaction arrives, the first exclusive node has gone and the
 * reader behind has the lock. */
SHARED(zk_upgrade, a_late_transaction_deletes_no_reader)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *b = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(lab_proxy_port(p), "?ttl=30s"));
	struct taker late = { .shared = 1 };
	char first[256];

	make_upgrade();
	find_node("-x0", first);
	taker_queue(&late, b, rwlock(b, "lock"), FOREVER);
	lab_proxy_hold(p, first);
	upgrade_start(&u);
	EVENTUALLY(lab_proxy_stat(p, LAB_HELD) == 1);
	drop(DIR, first);
	EVENTUALLY(late.done);
	lab_proxy_heal(p);
	ALL_ALONG(100, !u.done);
	CHECK_OK(let_go(&late));
	pthread_join(u.thread, NULL);
	CHECK_OK(u.rc);
	give(u.writes);
	leave(&u);
}

/* When the transaction arrives, the upgrade's node has gone. */
SHARED(zk_upgrade, a_late_transaction_deletes_no_waiter)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *b = client(s->port, "?ttl=30s");
	struct upgrader u = reader_of(client(lab_proxy_port(p), "?ttl=30s"));
	struct taker writer = { 0 };
	char before[256], after[256];

	taker_queue(&writer, b, rwlock(b, "lock"), FOREVER);
	find_node("-x-", before);
	lab_proxy_hold(p, before);
	upgrade_start(&u);
	EVENTUALLY(lab_proxy_stat(p, LAB_HELD) == 1);
	find_node("-x0", after);
	drop(DIR, after);
	dlock_cancel(u.lock);
	pthread_join(u.thread, NULL);
	CHECK_INT(u.rc, ==, DLOCK_ECANCELED);
	lab_proxy_heal(p);
	leave(&u);
	EVENTUALLY(writer.done);
	find_node("-x-", after);
	CHECK_TEXT(after, before);
	CHECK_OK(let_go(&writer));
}
