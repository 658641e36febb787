/* SPDX-License-Identifier: Apache-2.0 */
/* A log callback is called with no lock of the store held: it may wait for a
 * thread that uses the client. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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

/* What is said behind the close is not said: the sink is gone. */
Test(zk_news, of_a_client_that_is_closed_is_over)
{
	struct lab_server *s = server(NULL);

	for (int i = 0; i < 20; i++) {
		struct lab_proxy *p = proxy(s);
		struct sink *sink = calloc(1, sizeof(*sink));
		dlock_client *c;

		CHECK(sink);
		sink->about = "";
		sink->used = 1;
		c = told_client(lab_proxy_port(p), "?ttl=30s", sink);
		lab_proxy_reset(p);
		EVENTUALLY(i % 2 || sink->told);
		dlock_close(c);
		sink->about = NULL;
		free(sink);
		lab_proxy_free(p);
	}
	lab_server_free(s);
}
