/* SPDX-License-Identifier: Apache-2.0 */
/* A server that greets, and answers no more. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "lab/base/fail.h"
#include "lab/proxy/proxy.h"
#include "lab/servers/redis.h"

static struct lab_server *server;
static struct lab_proxy *proxy;
static char uri[80];

static void begin(void)
{
	struct lab_proxy_options o = { 0 };

	world_begin();
	server = lab_redis_start(NULL);
	cr_assert(server, "%s", lab_errmsg());
	o.to.port = server->port;
	proxy = lab_proxy_new(&o);
	cr_assert(proxy, "%s", lab_errmsg());
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/0",
		 lab_proxy_port(proxy));
}

static void end(void)
{
	lab_proxy_free(proxy);
	lab_server_free(server);
	world_end();
}

TestSuite(silent, .init = begin, .fini = end, .timeout = 120);

/* Keep all scripts from the server until the process ends. */
static void keep_scripts(const struct proc *p)
{
	for (uint64_t n = 1; alive(p->pid); n++) {
		lab_proxy_hold(proxy, "EVALSHA");
		while (lab_proxy_wait(proxy, LAB_HELD, n, 50) < 0 &&
		       alive(p->pid))
			continue;
	}
}

/* Of the two seconds no time is left for the lock, which would say after a
 * second that it waits. */
Test(silent, the_question_of_v_is_part_of_the_wait)
{
	struct proc p;

	START(&p, "run", "-v", "-w", "2", "-u", uri, "n", "--", "/bin/true");
	keep_scripts(&p);
	expect_says(finish(&p), 69, "no answer in time");
	cr_expect(has_line(errors(&p), "dlock: waiting for \"n\""));
	cr_expect_not(has_line(errors(&p), "dlock: waiting for \"n\" for"),
		      "%s", errors(&p));
}
