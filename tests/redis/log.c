/* SPDX-License-Identifier: Apache-2.0 */
/* A log callback is called with no lock of the store held: it may wait for a
 * thread that uses the client. */
#include "support.h"

#include <criterion/criterion.h>

#include "support/sink.h"

TestSuite(redis_log, .timeout = 120);

CASE(redis_log, of_a_lost_channel_keeps_nobody_waiting)
{
	/* Told of until the client is closed, which is later than this. */
	static struct sink s = { .about = "waiters poll more often" };
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct lab_server *server = server_start(NULL);
	struct lab_proxy *p = proxy_start(server);
	dlock_hold *h, *none = NULL;
	dlock_lock *l, *theirs;
	dlock_client *far = NULL, *near;

	o.on_log = sink_waits;
	o.arg = &s;
	CHECK_OK(dlock_open(&far, uri_of(lab_proxy_port(p), "ask=2s"), &o));
	near = client_of(server->port, NULL, NULL);
	l = mutex(far, "x");
	theirs = mutex(near, "x");
	h = take(theirs, patience_ms());
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	lab_proxy_reset(p);
	EVENTUALLY(s.told);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	s.used = 1;
	CHECK(!s.in_vain);
	give(h);
}

/* Once an outage, however often it is tried; the rest is for a debugger. */
CASE(redis_log, of_a_lost_channel_is_written_once)
{
	static struct diary d = DIARY_INIT;
	struct lab_server *server = server_start(NULL);
	struct lab_proxy *p = proxy_start(server);
	dlock_options o = diary_options(&d);
	dlock_client *far = NULL;
	dlock_hold *h, *none = NULL;
	dlock_lock *l;

	CHECK_OK(dlock_open(&far, uri_of(lab_proxy_port(p), "ask=2s"), &o));
	l = mutex(far, "x");
	h = take(mutex(client_of(server->port, NULL, NULL), "x"),
		 patience_ms());
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	lab_proxy_refuse(p, true);
	lab_proxy_reset(p);
	EVENTUALLY(diary_times(&d, "1 waiters poll more often") == 1);
	lab_proxy_refuse(p, false);
	give(h);
	dlock_close(far);
}
