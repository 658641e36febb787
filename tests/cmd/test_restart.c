/* SPDX-License-Identifier: Apache-2.0 */
/* A Redis server without a log of writes forgets locks when it restarts. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/redis.h"

#define WARNING "keeps no log of writes"

static struct lab_server *server;
static char uri[64];

/* Start a private server as dlock's store. */
static void set_up(bool aof)
{
	struct lab_redis_options o = { .aof = aof };

	server = lab_redis_start(&o);
	cr_assert(server, "%s", lab_errmsg());
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/0", server->port);
}

static void end(void)
{
	lab_server_free(server);
	world_end();
}

TestSuite(restart, .init = world_begin, .fini = end, .timeout = 120);

static int warnings(struct result r)
{
	int n = 0;

	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	for (const char *at = r.err; (at = strstr(at, WARNING)); at++)
		n++;
	return n;
}

Test(restart, that_would_forget_is_told_of_once)
{
	set_up(false);
	cr_expect_eq(warnings(DLOCK("run", "-u", uri, "n", "--", "/bin/true")),
		     1);
	/* `dlock list` takes no lock that could be lost. */
	cr_expect_eq(warnings(DLOCK("list", "-u", uri)), 0);
	cr_expect_eq(warnings(DLOCK("list", "-v", "-u", uri)), 1);
}

Test(restart, that_remembers_is_no_news)
{
	set_up(true);
	cr_expect_eq(warnings(DLOCK("run", "-u", uri, "n", "--", "/bin/true")),
		     0);
}

Test(restart, that_forgets_stops_every_command)
{
	struct proc p[2];

	set_up(false);
	for (int i = 0; i < 2; i++) {
		START(&p[i], "run", "-u", uri, i ? "a" : "b", "--", "/bin/sh",
		      "-c", "echo runs >&2; sleep 1000");
		await_error(&p[i], "runs");
	}
	cr_assert_eq(lab_server_kill(server), 0, "%s", lab_errmsg());
	cr_assert_eq(lab_server_restart(server, false), 0, "%s", lab_errmsg());
	for (int i = 0; i < 2; i++) {
		struct result r = finish(&p[i]);

		expect_says(r, 75, "is lost");
	}
}
