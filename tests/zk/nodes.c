/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the server: nodes, watches, directories, access lists. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_nodes, .timeout = 120);

#define DIR "/dlock/mnlock"
#define TRIES (sanitized() ? 2000 : 20000)

/* At once: a third of the ttl would be ten seconds. */
Test(zk_nodes, a_node_deleted_by_hand_is_a_loss)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = watched_client(s->port, "?ttl=30s");
	dlock_lock *l = mutex(c, "lock");

	for (int i = 0; i < 3; i++) {
		dlock_hold *h = take(l, FOREVER);
		char name[256];
		int64_t begun;

		CHECK_INT(children(zh, DIR, name), ==, 1);
		if (i > 0) /* once before its watch can be there */
			EVENTUALLY(watches(s) == 1);
		drop(zh, DIR, name);
		begun = now_ms();
		EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
		CHECK_INT(now_ms() - begun, <, 2000);
		EVENTUALLY(lost == i + 1);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
	}
	CHECK_INT(watches(s), ==, 0);
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* Who releases before that was noticed is told then. */
Test(zk_nodes, a_node_deleted_by_hand_is_seen_by_the_release)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = client(s->port, "?ttl=30s");
	dlock_lock *l = mutex(c, "lock");

	for (int i = 0; i < 50; i++) {
		dlock_hold *h = take(l, FOREVER);
		char name[256];

		CHECK_INT(children(zh, DIR, name), ==, 1);
		drop(zh, DIR, name);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
		CHECK_OK(dlock_release(take(l, FOREVER)));
	}
	CHECK_INT(stats(c).lost, ==, 50);
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* Delete the child that is not `name`. */
static void drop_other(zhandle_t *zh, const char *name)
{
	struct String_vector v = { 0 };

	CHECK_INT(zoo_get_children(zh, DIR, 0, &v), ==, ZOK);
	CHECK_INT(v.count, ==, 2);
	drop(zh, DIR, v.data[strcmp(v.data[0], name) == 0]);
	deallocate_String_vector(&v);
}

/* A thread that acquires, and holds on until it is told. */
struct keeper {
	pthread_t thread;
	dlock_lock *lock;
};

static atomic_int inside, let_go;

static void *keep(void *arg)
{
	struct keeper *k = arg;
	dlock_hold *h = take(k->lock, FOREVER);

	atomic_fetch_add(&inside, 1);
	EVENTUALLY(let_go);
	CHECK_OK(dlock_release(h));
	return NULL;
}

static void keeper_start(struct keeper *k, dlock_client *c)
{
	k->lock = mutex(c, "lock");
	CHECK_INT(pthread_create(&k->thread, NULL, keep, k), ==, 0);
	EVENTUALLY(stats(c).waiters == 1);
}

/* Who queues behind it sees the holder alone, and waits for the same node. */
Test(zk_nodes, a_waiter_whose_node_was_deleted_has_no_turn)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c[3];
	struct keeper keeper[2];
	char name[256];
	dlock_hold *h;

	for (int i = 0; i < 3; i++)
		c[i] = client(s->port, "?ttl=30s");
	h = take(mutex(c[0], "lock"), FOREVER);
	CHECK_INT(children(zh, DIR, name), ==, 1);
	keeper_start(&keeper[0], c[1]);
	drop_other(zh, name);
	keeper_start(&keeper[1], c[2]);
	CHECK_OK(dlock_release(h));
	EVENTUALLY(inside == 2 || (inside == 1 && children_are(zh, DIR, 2)));
	ALL_ALONG(300, inside == 1);
	let_go = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(keeper[i].thread, NULL);
	CHECK_INT(children(zh, DIR, NULL), ==, 0);
	for (int i = 0; i < 3; i++)
		dlock_close(c[i]);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* It need not wait for the holder to find that out. */
Test(zk_nodes, a_waiter_whose_node_was_deleted_queues_again)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port, "?ttl=30s");
	dlock_hold *h = take(mutex(a, "lock"), FOREVER);
	char name[256];
	struct waiter w;

	CHECK_INT(children(zh, DIR, name), ==, 1);
	waiter_start(&w, mutex(b, "lock"), FOREVER);
	for (int i = 0; i < 5; i++) {
		EVENTUALLY(children_are(zh, DIR, 2));
		drop_other(zh, name);
	}
	EVENTUALLY(children_are(zh, DIR, 2));
	CHECK(!w.over);
	CHECK_OK(dlock_release(h));
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	EVENTUALLY(watches(s) == 0);
	dlock_close(a);
	dlock_close(b);
	zookeeper_close(zh);
	lab_server_free(s);
}

Test(zk_nodes, tries_leave_one_child_and_no_watch)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *held = mutex(a, "lock"), *l = mutex(b, "lock");
	dlock_hold *h = take(held, FOREVER), *none = NULL;
	struct waiter w;

	for (int i = 0; i < TRIES; i++)
		CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	for (int i = 0; i < 20; i++)
		CHECK_RC(dlock_acquire(l, 3, &none), DLOCK_EBUSY);
	for (int i = 0; i < 20; i++) {
		waiter_start(&w, l, FOREVER);
		EVENTUALLY(stats(b).waiters == 1);
		dlock_cancel(l);
		CHECK_INT(waiter_join(&w), ==, DLOCK_ECANCELED);
	}
	CHECK_INT(children(zh, DIR, NULL), ==, 1);
	/* The holder's own is left. */
	EVENTUALLY(watches(s) == 1);
	CHECK_OK(dlock_release(h));
	EVENTUALLY(watches(s) == 0);
	CHECK_INT(children(zh, DIR, NULL), ==, 0);
	dlock_close(a);
	dlock_close(b);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* Two waiters of one client watch the same node; one gives up. */
Test(zk_nodes, a_shared_watch_outlives_one_of_its_users)
{
	struct lab_server *s = server(NULL);
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *writer = rwlock(a, "lock");
	dlock_lock *readers[2] = { rwlock(b, "lock"), rwlock(b, "lock") };
	dlock_hold *h = NULL, *got = NULL, *none = NULL;
	struct waiter w;

	for (int i = 0; i < 20; i++) {
		CHECK_OK(dlock_acquire(writer, FOREVER, &h));
		waiter_start(&w, readers[0], PATIENCE);
		EVENTUALLY(stats(b).waiters == 1);
		CHECK_RC(dlock_acquire_shared(readers[1], i, &none),
			 DLOCK_EBUSY);
		CHECK_OK(dlock_release(h));
		CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	}
	CHECK_OK(dlock_acquire_shared(readers[1], PATIENCE, &got));
	CHECK_OK(dlock_release(got));
	EVENTUALLY(watches(s) == 0);
	dlock_close(a);
	dlock_close(b);
	lab_server_free(s);
}

Test(zk_nodes, foreign_children_are_left_alone)
{
	static const char *const junk[] = {
		"x",
		"lock-0000000001",
		"0123456789abcdef-x-0000000000",
		"0123456789abcdef0123456789abcdef-x-000000000",
		"0123456789abcdef0123456789abcdef-x--000000001",
		"0123456789abcdef0123456789abcdef-y-0000000000",
		"0123456789abcdef0123456789abcdef-x-0000000000-",
		"0123456789abcdef0123456789abcdef-x-9999999999",
		"0123456789abcdef0123456789abcdef-x--0000000000",
		"0123456789abcdef0123456789abcdef-x--2147483649",
		"0123456789abcdef0123456789abcdef-x---2147483648",
		"0123456789ABCDEF0123456789abcdef-x-0000000000",
		"0123456789abcdef0123456789abcdef-s4294967296-0000000000",
	};
	enum { N = sizeof(junk) / sizeof(junk[0]) };
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = client(s->port, "?ttl=30s&ask=1s");
	dlock_lock *l = mutex(c, "lock");

	CHECK_OK(dlock_release(take(l, FOREVER)));
	for (int i = 0; i < N; i++) {
		char path[256];

		snprintf(path, sizeof(path), DIR "/%s", junk[i]);
		make(zh, path);
	}
	CHECK_OK(dlock_release(take(l, 0)));
	CHECK_INT(children(zh, DIR, NULL), ==, N);
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* The server removes containers that are empty; whoever deletes more takes the
 * locks away, and tokens rise all the same. */
Test(zk_nodes, a_directory_may_vanish)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = client(s->port, "?ttl=30s&ask=1s");
	dlock_client *other = client(s->port, "?ttl=30s&ask=1s");
	dlock_lock *l = mutex(c, "lock"), *waits = mutex(other, "lock");
	uint64_t token = 0;

	for (int i = 0; i < 5; i++) {
		dlock_hold *h = take(l, FOREVER);
		struct waiter w;
		char name[256];

		CHECK_INT(dlock_token(h), >, token);
		token = dlock_token(h);
		waiter_start(&w, waits, PATIENCE);
		EVENTUALLY(stats(other).waiters == 1);
		while (children(zh, DIR, name) > 0)
			drop(zh, DIR, name);
		zoo_delete(zh, DIR, -1);
		EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
		CHECK_INT(pthread_join(w.thread, NULL), ==, 0);
		CHECK_OK(w.rc);
		/* Its node was dropped, too, perhaps behind the grant. */
		if (w.released != DLOCK_ELOST)
			CHECK_OK(w.released);
	}
	dlock_close(c);
	dlock_close(other);
	zookeeper_close(zh);
	lab_server_free(s);
}

Test(zk_nodes, a_path_is_where_locks_are)
{
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c;
	dlock_hold *h;

	refused(s->port, "app/locks", DLOCK_EINVAL, "/app/locks");
	refused(s->port, "app//locks", DLOCK_EINVAL, "empty part");
	refused(s->port, "app/../locks", DLOCK_EINVAL, "..");
	make(zh, "/app");
	make(zh, "/app/locks");
	c = client(s->port, "app/locks?prefix=here");
	h = take(mutex(c, "lock"), FOREVER);
	CHECK_INT(children(zh, "/app/locks/here/mnlock", NULL), ==, 1);
	CHECK_INT(children(zh, "/dlock", NULL), ==, 0);
	CHECK_OK(dlock_release(h));
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

static dlock_client *as(int port, const char *user)
{
	dlock_client *c = NULL;
	char uri[256];

	snprintf(uri, sizeof(uri), "zk://%s127.0.0.1:%d/?ask=5s", user, port);
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

Test(zk_nodes, what_a_user_makes_is_that_users)
{
	static const char *const others[] = { "", "app:wrong@",
					      "other:sesame@" };
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c = as(s->port, "app:sesame@");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h = take(l, FOREVER), *none = NULL;

	CHECK_INT(children(zh, "/", NULL), >, 0);
	CHECK_INT(zoo_delete(zh, DIR, -1), ==, ZNOAUTH);
	for (int i = 0; i < 3; i++) {
		dlock_client *d = as(s->port, others[i]);
		dlock_lock *wanted = mutex(d, "lock");

		CHECK_RC(dlock_acquire(wanted, 500, &none), DLOCK_EDENIED);
		CHECK(!strstr(dlock_errmsg(), "sesame"));
		CHECK(!strstr(dlock_uri(c), "sesame"));
		dlock_close(d);
	}
	CHECK_OK(dlock_release(h));
	dlock_close(c);
	c = as(s->port, "app:sesame@");
	CHECK_OK(dlock_release(take(mutex(c, "lock"), 0)));
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

/* Where nothing may be made at all, that is what the caller hears. */
Test(zk_nodes, a_path_that_is_closed_is_denied)
{
	struct ACL look = { ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector only_look = { 1, &look };
	struct lab_server *s = server(NULL);
	zhandle_t *zh = bare(s->port);
	dlock_client *c;
	dlock_hold *none = NULL;

	CHECK_INT(zoo_create(zh, "/closed", "", 0, &only_look, 0, NULL, 0), ==,
		  ZOK);
	c = client(s->port, "closed?ask=5s");
	CHECK_RC(dlock_acquire(mutex(c, "lock"), 500, &none), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), "/closed/dlock");
	dlock_close(c);
	zookeeper_close(zh);
	lab_server_free(s);
}

static atomic_int enough;

static void *ask_wrongly(void *arg)
{
	dlock_hold *none = NULL;

	while (!atomic_load(&enough))
		CHECK_RC(dlock_acquire(arg, 0, &none), DLOCK_EINVAL);
	return NULL;
}

/* One that is refused must not have others refused who are right. */
Test(zk_nodes, the_wrong_number_of_permits_is_refused_alone)
{
	struct lab_server *s = server(NULL);
	dlock_client *c[3];
	dlock_lock *l[3];
	dlock_hold *h = NULL, *more = NULL;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		c[i] = client(s->port, "?ttl=30s&ask=5s");
		CHECK_OK(dlock_semaphore_new(&l[i], c[i], "lock",
					     i == 2 ? 2 : 3));
	}
	CHECK_OK(dlock_acquire(l[0], FOREVER, &h));
	CHECK_INT(pthread_create(&thread, NULL, ask_wrongly, l[2]), ==, 0);
	for (int i = 0; i < 1000; i++) {
		CHECK_OK(dlock_acquire(l[1], PATIENCE, &more));
		CHECK_OK(dlock_release(more));
	}
	atomic_store(&enough, 1);
	pthread_join(thread, NULL);
	CHECK_OK(dlock_release(h));
	for (int i = 0; i < 3; i++) {
		dlock_free(l[i]);
		dlock_close(c[i]);
	}
	lab_server_free(s);
}

Test(zk_nodes, the_server_sets_the_time_out)
{
	struct lab_zk_options o = { .min_session_ms = 4000,
				    .max_session_ms = 6000 };
	struct lab_server *s = server(&o);
	dlock_client *c = client(s->port, "?ttl=1s");

	CHECK_INT(dlock_ttl_ms(c), ==, 4000);
	dlock_close(c);
	c = client(s->port, "?ttl=1m");
	CHECK_INT(dlock_ttl_ms(c), ==, 6000);
	dlock_close(c);
	lab_server_free(s);
}

/* One writes for all: the number of holds makes no difference. */
Test(zk_nodes, one_write_keeps_all_holds)
{
	enum { HOLDS = 50 };
	struct lab_server *s = server(NULL);
	dlock_client *c = watched_client(s->port, "?ttl=1500ms");
	dlock_hold *h[HOLDS];
	int64_t before;

	for (int i = 0; i < HOLDS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "lock%d", i);
		h[i] = take(mutex(c, name), FOREVER);
	}
	EVENTUALLY(watches(s) == HOLDS);
	before = lab_zk_number(s, "srvr", "Received");
	nap_ms(3000);
	/* Six proofs, and pings; our own question counts, too. */
	CHECK_INT(lab_zk_number(s, "srvr", "Received") - before, <, 25);
	for (int i = 0; i < HOLDS; i++)
		CHECK_OK(dlock_release(h[i]));
	CHECK_INT(lost, ==, 0);
	dlock_close(c);
	lab_server_free(s);
}
