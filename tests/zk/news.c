/* SPDX-License-Identifier: Apache-2.0 */
/* A log callback is called with no lock of the store held: it may wait for a
 * thread that uses the client. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "support/sink.h"

TestSuite(zk_news, .timeout = 120);

static dlock_client *told_client(int port, const char *params, struct sink *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_log = sink_waits;
	o.arg = s;
	return client_with(port, params, &o);
}

Test(zk_news, of_a_lost_connection_keeps_nobody_waiting)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	struct sink sink = { .about = "disconnected" };
	dlock_client *c = told_client(lab_proxy_port(p), "?ttl=30s", &sink);
	dlock_lock *l = mutex(c, "lock");

	lab_proxy_reset(p);
	EVENTUALLY(sink.told);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	sink.used = 1;
	CHECK(!sink.in_vain);
	dlock_close(c);
	lab_proxy_free(p);
	lab_server_free(s);
}

/* Nor while the session has ended: there is a new one by then. */
Test(zk_news, of_an_expired_session_keeps_nobody_waiting)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	struct sink sink = { .about = "waiters queue again" };
	dlock_client *c = told_client(lab_proxy_port(p), "?ttl=4s", &sink);
	dlock_lock *l = mutex(c, "lock");

	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	EVENTUALLY(sink.told);
	lab_proxy_refuse(p, false);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	sink.used = 1;
	CHECK(!sink.in_vain);
	dlock_close(c);
	lab_proxy_free(p);
	lab_server_free(s);
}

/* A session that was given up does not come back, with a node of which nobody
 * knows any more, while that is told. */
Test(zk_news, of_a_session_given_up_does_not_revive_it)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	struct sink sink = { .about = "waiters queue again" };
	dlock_client *c = told_client(lab_proxy_port(p), "?ttl=3s&close=300ms",
				      &sink);
	dlock_client *other = client(s->port, "?ttl=10s");
	dlock_hold *h = take(mutex(c, "lock"), FOREVER);

	lab_proxy_hole(p, LAB_UP, true);
	lab_proxy_hole(p, LAB_DOWN, true);
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_kill(s), ==, 0);
	EVENTUALLY(stats(c).remnants == 0);
	CHECK_INT(lab_server_restart(s, true), ==, 0);
	EVENTUALLY(sink.told);
	lab_proxy_heal(p);
	lab_proxy_reset(p);
	CHECK_OK(dlock_release(take(mutex(other, "lock"), PATIENCE)));
	sink.used = 1;
	dlock_close(other);
	dlock_close(c);
	lab_proxy_free(p);
	lab_server_free(s);
}

struct healer {
	struct lab_proxy *proxy;
	struct sink sink;
};

static void *heal_when_told(void *arg)
{
	struct healer *h = arg;

	EVENTUALLY(h->sink.told);
	lab_proxy_refuse(h->proxy, false);
	return NULL;
}

/* The hold stood when its release was asked for. */
Test(zk_news, of_a_session_that_ends_during_a_release_is_no_loss)
{
	struct lab_server *s = server(NULL);
	struct healer healer = {
		.proxy = proxy(s),
		.sink = { .about = "waiters queue again", .used = 1 },
	};
	dlock_client *c = told_client(lab_proxy_port(healer.proxy),
				      "?ttl=2s&close=20s", &healer.sink);
	dlock_hold *h = take(mutex(c, "lock"), FOREVER);
	pthread_t t;

	lab_proxy_refuse(healer.proxy, true);
	lab_proxy_reset(healer.proxy);
	CHECK_INT(pthread_create(&t, NULL, heal_when_told, &healer), ==, 0);
	CHECK_OK(dlock_check(h));
	CHECK(dlock_release(h) != DLOCK_ELOST);
	pthread_join(t, NULL);
	dlock_close(c);
	lab_proxy_free(healer.proxy);
	lab_server_free(s);
}

static atomic_int inside;

static void nap_inside(int level, const char *text, void *arg)
{
	(void)level;
	(void)text;
	(void)arg;
	atomic_fetch_add(&inside, 1);
	nap_ms(500);
	atomic_fetch_sub(&inside, 1);
}

/* The sink may be gone after the close, whatever its time. */
Test(zk_news, that_is_being_told_is_waited_for_by_the_close)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;

	o.on_log = nap_inside;
	c = client_with(lab_proxy_port(p), "?ttl=30s&close=50ms", &o);
	lab_proxy_reset(p);
	EVENTUALLY(inside == 1);
	dlock_close(c);
	CHECK_INT(inside, ==, 0);
	lab_proxy_free(p);
	lab_server_free(s);
}
