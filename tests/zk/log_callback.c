/* SPDX-License-Identifier: Apache-2.0 */
/* The backend holds no lock during the log callback, which may wait for another
 * thread of the client. */
#include "zk/support.h"

#include <criterion/criterion.h>

#include "support/sink.h"

TestSuite(zk_log_callback, .timeout = 120);

static dlock_client *told_client(int port, const char *params, struct sink *s)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_log = sink_waits;
	o.arg = s;
	return client_with(port, params, &o);
}

/* The client takes a lock while the callback waits. */
static void keeps_nobody_waiting(const char *params, const char *about,
				 bool expires)
{
	struct lab_proxy *p = proxy(shared_server());
	static struct sink sink;
	dlock_client *c;
	dlock_lock *l;

	sink.about = about;
	c = told_client(lab_proxy_port(p), params, &sink);
	l = mutex(c, "lock");
	lab_proxy_refuse(p, expires);
	lab_proxy_reset(p);
	EVENTUALLY(sink.told);
	lab_proxy_refuse(p, false);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	sink.used = 1;
	CHECK(!sink.in_vain);
}

CASE(zk_log_callback, of_a_lost_connection_keeps_nobody_waiting)
{
	keeps_nobody_waiting("?ttl=30s", "disconnected", false);
}

/* ... in a new session. */
CASE(zk_log_callback, of_an_expired_session_keeps_nobody_waiting)
{
	keeps_nobody_waiting("?ttl=4s", "waiters queue again", true);
}

/* The session was given up with a node that the client has forgotten.  It does
 * not come back while the callback runs. */
OWN(zk_log_callback, of_a_session_given_up_does_not_revive_it)
{
	struct lab_proxy *p = proxy(s);
	static struct sink sink = { .about = "waiters queue again" };
	dlock_client *c = told_client(lab_proxy_port(p), "?ttl=3s&close=300ms",
				      &sink);
	dlock_client *other = client(s->port, "?ttl=10s");
	dlock_hold *h = take(mutex(c, "lock"), FOREVER);

	lab_proxy_hole(p, LAB_UP, true);
	lab_proxy_hole(p, LAB_DOWN, true);
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_kill(s), ==, 0);
	EVENTUALLY(stats(c).pending_cleanups == 0);
	CHECK_INT(lab_server_restart(s, true), ==, 0);
	EVENTUALLY(sink.told);
	lab_proxy_heal(p);
	lab_proxy_reset(p);
	CHECK_OK(dlock_release(take(mutex(other, "lock"), PATIENCE)));
	sink.used = 1;
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

/* The release began before the session's end. */
OWN(zk_log_callback, of_a_session_that_ends_during_a_release_is_no_loss)
{
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
	end_now(c); /* the client logs to `healer` */
}

enum { CLOSE_MS = 50 };

static atomic_int inside;

static void nap_inside(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	(void)arg;
	atomic_fetch_add(&inside, 1);
	nap_ms(10 * CLOSE_MS);
	atomic_fetch_sub(&inside, 1);
}

/* The caller may free the sink after the close, however short the close
 * time. */
OWN(zk_log_callback, that_runs_is_waited_for_by_the_close)
{
	struct lab_proxy *p = proxy(s);
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c;

	o.on_log = nap_inside;
	c = client_with(lab_proxy_port(p), "?ttl=30s&close=50ms", &o);
	lab_proxy_reset(p);
	EVENTUALLY(inside == 1);
	end_now(c);
	CHECK_INT(inside, ==, 0);
}
