/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: ended by another process, many at once, and refused. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/address.h"

TestSuite(zk_session, .timeout = 120);

/* The linker puts the wrapper in the place of zookeeper_init2() of dlock's copy
 * of the client library, for the handle that tells the session's password. */
zhandle_t *__real_dlki_zkc_zookeeper_init2(const char *, watcher_fn, int,
					   const clientid_t *, void *, int,
					   log_callback_fn);
zhandle_t *__wrap_dlki_zkc_zookeeper_init2(const char *, watcher_fn, int,
					   const clientid_t *, void *, int,
					   log_callback_fn);
const clientid_t *dlki_zkc_zoo_client_id(zhandle_t *zh);

static _Atomic(zhandle_t *) latest;

zhandle_t *__wrap_dlki_zkc_zookeeper_init2(const char *hosts,
					   watcher_fn watcher, int ms,
					   const clientid_t *id, void *context,
					   int flags, log_callback_fn log)
{
	zhandle_t *zh = __real_dlki_zkc_zookeeper_init2(hosts, watcher, ms, id,
							context, flags, log);

	atomic_store(&latest, zh);
	return zh;
}

struct zk_session;
struct zk_call *__real_dlki_zk_proof(struct zk_session *s);
struct zk_call *__wrap_dlki_zk_proof(struct zk_session *s);

static atomic_int scarce; /* there is no memory for so many proofs */

struct zk_call *__wrap_dlki_zk_proof(struct zk_session *s)
{
	if (scarce > 0) {
		scarce--;
		return NULL;
	}
	return __real_dlki_zk_proof(s);
}

/* A server behind the session knows neither the holds' nodes nor waiters, so a
 * connection serves only once the server has taken a write. */
SHARED(zk_session, moves_on_from_a_server_that_took_no_write)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = watched_client(lab_proxy_port(p), "?ttl=60s&ask=2s");
	dlock_hold *h = take(mutex(c, "lock"), FOREVER);

	CHECK_INT(lab_proxy_stat(p, LAB_ACCEPTED), ==, 1);
	scarce = 1;
	lab_proxy_reset(p);
	EVENTUALLY(!scarce);
	EVENTUALLY(lab_proxy_stat(p, LAB_ACCEPTED) == 3);
	CHECK_OK(dlock_release(h));
	CHECK_INT(diary.losses, ==, 0);
}

/* No lease has run out, and the connection is soon replaced: the holds are lost
 * all the same, and waiters queue again.  The client is kept away meanwhile: a
 * server of 3.8 may answer neither of two connections of a session for as long
 * as the library waits. */
SHARED(zk_session, may_be_ended_by_another_with_its_password)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = watched_client(lab_proxy_port(p), "?ttl=60s&ask=2s");
	clientid_t id = *dlki_zkc_zoo_client_id(latest);
	dlock_client *other = client(s->port, "?ttl=30s&ask=2s");
	dlock_lock *l = mutex(c, "lock"), *waited = mutex(c, "waited");
	dlock_hold *h = take(l, FOREVER);
	dlock_hold *busy = take(mutex(other, "waited"), FOREVER);
	uint64_t token = dlock_token(h), next;
	struct taker w = { 0 };

	taker_start(&w, waited, FOREVER);
	EVENTUALLY(stats(c).waiters == 1);
	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	end_now(bare_of(s->port, &id));
	lab_proxy_heal(p);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	EVENTUALLY(diary.losses == 1);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	next = taken(mutex(other, "lock"));
	CHECK_INT(next, >, token);
	h = take(l, PATIENCE);
	CHECK_INT(dlock_token(h), >, next);
	EVENTUALLY(stats(c).waiters == 1);
	CHECK_OK(dlock_release(busy));
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	CHECK_OK(dlock_release(h));
	CHECK_INT(diary.losses, ==, 1);
}

/* The server ends the session later than the client does, here by a connection
 * of the case: a node of the waiter still stands. */
SHARED(zk_session, an_ended_one_leaves_a_waiter_no_node)
{
	static const char dir[] = "/dlock/lnlock";
	struct lab_proxy *p = proxy(s);
	dlock_client *c = watched_client(lab_proxy_port(p), "?ttl=2s");
	clientid_t id = *dlki_zkc_zoo_client_id(latest);
	dlock_hold *h = take(mutex(client(s->port, ""), "lock"), FOREVER);
	struct taker w = { 0 };
	zhandle_t *zh;

	taker_queue(&w, c, mutex(c, "lock"), FOREVER);
	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	zh = bare_of(s->port, &id);
	EVENTUALLY(zoo_exists(zh, "/", 0, NULL) == ZOK &&
		   diary_says(&diary, "waiters queue again"));
	CHECK_OK(dlock_release(h));
	lab_proxy_heal(p);
	EVENTUALLY(children_are(dir, 2) || w.done);
	CHECK(!w.done);
	end_now(zh);
	EVENTUALLY(w.done);
	CHECK_OK(let_go(&w));
}

/* By default a server takes sixty connections from an address. */
CASE(zk_session, fifty_are_one_process_s)
{
	enum { CLIENTS = 50 };
	struct lab_zk_options o = { .config = "maxClientCnxns=60\n" };
	struct lab_server *s = server(&o);
	dlock_client *c[CLIENTS];
	dlock_hold *mine[CLIENTS];
	struct taker w[CLIENTS] = { 0 };
	dlock_hold *h;

	for (int i = 0; i < CLIENTS; i++) {
		char name[16];

		c[i] = client(s->port, "?ttl=20s&ask=5s&connect=10s");
		snprintf(name, sizeof(name), "lock%d", i);
		mine[i] = take(mutex(c[i], name), FOREVER);
	}
	h = take(mutex(c[0], "lock"), FOREVER);
	for (int i = 1; i < CLIENTS; i++)
		taker_start(&w[i], mutex(c[i], "lock"), 3 * PATIENCE);
	EVENTUALLY(children_are("/dlock/lnlock", CLIENTS));
	CHECK_OK(dlock_release(h));
	for (int i = 1; i < CLIENTS; i++)
		CHECK_INT(waiter_join(&w[i]), ==, DLOCK_OK);
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_OK(dlock_check(mine[i]));
		CHECK_OK(dlock_release(mine[i]));
		end_now(c[i]);
	}
	EVENTUALLY(lab_zk_number(s, "mntr", "zk_global_sessions") == 1);
	CHECK_INT(lab_zk_number(s, "mntr", "zk_ephemerals_count"), ==, 0);
}

/* The limit does not hold for root. */
static void leave_root(void)
{
	if (geteuid() == 0)
		CHECK_INT(setresuid(65534, 65534, 65534), ==, 0);
}

/* The limit rises by a thread each time, until dlock_open() has enough. */
OWN(zk_session, cannot_begin_without_threads)
{
	int opened = 0, refusals = 0;
	struct rlimit most;
	char uri[128];

	snprintf(uri, sizeof(uri), "zk://127.0.0.1:%d/?connect=1s", s->port);
	leave_root();
	CHECK_INT(getrlimit(RLIMIT_NPROC, &most), ==, 0);
	for (rlim_t n = 1; n < 4096 && opened < 3; n++) {
		struct rlimit limit = { n, most.rlim_max };
		dlock_client *c = NULL;
		int rc;

		CHECK_INT(setrlimit(RLIMIT_NPROC, &limit), ==, 0);
		rc = dlock_open(&c, uri, NULL);
		opened += rc == DLOCK_OK;
		refusals += rc != DLOCK_OK;
		if (rc != DLOCK_OK && rc != DLOCK_EEXHAUSTED)
			CHECK_RC(rc, DLOCK_EUNREACHABLE);
		dlock_close(c);
	}
	CHECK_INT(opened, ==, 3);
	CHECK_INT(refusals, >=, 3);
}

/* The server closes the third connection without an answer. */
CASE(zk_session, one_client_too_many_is_told_why)
{
	struct lab_zk_options o = { .config = "maxClientCnxns=2\n" };
	struct lab_server *s = server(&o);
	dlock_client *c[2];

	for (int i = 0; i < 2; i++)
		c[i] = client(s->port, "");
	/* A twentieth of this is for the srvr word that tells why. */
	refused(s->port, "?connect=6s", DLOCK_EUNREACHABLE, "maxClientCnxns");
	end_now(c[0]);
	client(s->port, "?connect=20s");
}

/* The renewal is in time, for there is memory soon. */
CASE(zk_session, a_renewal_without_memory_is_tried_again_at_once)
{
	dlock_client *c = watched_client(shared_server()->port, "?ttl=6s");
	dlock_hold *h = take(mutex(c, "lock"), PATIENCE);
	uint64_t renewed = stats(c).renewed;

	scarce = 1;
	EVENTUALLY(!scarce);
	EVENTUALLY(stats(c).renewed > renewed);
	CHECK_INT(stats(c).renew_failed, ==, 0);
	CHECK_OK(dlock_release(h));
}

/* ... without a turn of the processor for each look. */
CASE(zk_session, a_renewal_without_memory_pauses)
{
	enum { TURNS = 50, PAUSE_MS = 10 };
	dlock_client *c = watched_client(shared_server()->port, "?ttl=6s");
	dlock_hold *h = take(mutex(c, "lock"), PATIENCE);
	int64_t began;

	scarce = 2 * TURNS;
	EVENTUALLY(scarce < 2 * TURNS);
	began = now_ms();
	EVENTUALLY(scarce <= TURNS);
	CHECK_INT(now_ms() - began, >=, TURNS * PAUSE_MS / 2);
	scarce = 0;
	CHECK_OK(dlock_release(h));
}

CASE(zk_session, an_address_may_be_of_version_six)
{
	static const char *const forms[] = { "zk://[::1]:%d/",
					     "zk://[::1]:1,[::1]:%d/" };
	struct lab_zk_options o = { .config = "clientPortAddress=::\n" };
	struct lab_server *s;

	if (!address_six_is_there())
		cr_skip_test("this machine has no ::1");
	s = server(&o);
	for (int i = 0; i < 2; i++) {
		dlock_client *c = NULL;
		char uri[100];

		snprintf(uri, sizeof(uri), forms[i], s->port);
		CHECK_OK(dlock_open(&c, uri, NULL));
		taken(mutex(c, "lock"));
		dlock_close(c);
	}
}
