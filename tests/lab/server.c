/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "lab/servers/server.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

TestSuite(server, .timeout = 120);

Test(server, redis_starts_answers_and_goes)
{
	struct lab_server *s = redis(NULL);
	char dir[sizeof(s->dir)];
	pid_t pid = lab_server_pid(s);

	cr_expect_gt(s->port, 1023);
	cr_expect(lab_server_alive(s));
	expect(s, "PING", "PONG");
	expect(s, "SET a \"two words\"", "OK");
	expect(s, "GET a", "two words");
	expect(s, "GET none", "");
	expect(s, "INCR n", "1");
	expect(s, "LRANGE none 0 -1", "*0\r\n");
	cr_expect_lt(lab_redis_do(s, NULL, 0, "INCR a"), 0);
	cr_expect(strstr(lab_errmsg(), "not an integer"), "%s", lab_errmsg());
	cr_expect_geq(lab_redis_info(s, "total_commands_processed"), 6);
	snprintf(dir, sizeof(dir), "%s", s->dir);
	lab_server_free(s);
	cr_expect_lt(kill(pid, 0), 0);
	cr_expect_lt(access(dir, F_OK), 0);
	lab_server_free(NULL);
}

Test(server, a_restart_keeps_the_port_and_the_data_if_wanted)
{
	struct lab_redis_options aof = { .aof = true };
	struct lab_server *s = redis(&aof);
	int port = s->port;

	expect(s, "SET k v", "OK");
	cr_assert_eq(lab_server_kill(s), 0, "%s", lab_errmsg());
	cr_expect_not(lab_server_alive(s));
	cr_expect_eq(lab_server_kill(s), 0);
	cr_expect_eq(lab_server_stop(s), 0);
	cr_expect_lt(lab_redis_do(s, NULL, 0, "PING"), 0);
	cr_assert_eq(lab_server_restart(s, true), 0, "%s", lab_errmsg());
	cr_expect_eq(s->port, port);
	cr_expect_eq(s->starts, 2);
	expect(s, "GET k", "v");
	cr_assert_eq(lab_server_restart(s, false), 0, "%s", lab_errmsg());
	expect(s, "GET k", "");
	lab_server_free(s);
}

Test(server, a_paused_server_can_be_stopped_and_killed)
{
	struct lab_server *s = redis(NULL);

	cr_assert_eq(lab_server_pause(s), 0);
	cr_expect_eq(lab_server_stop(s), 0, "%s", lab_errmsg());
	cr_assert_eq(lab_server_restart(s, true), 0, "%s", lab_errmsg());
	cr_assert_eq(lab_server_pause(s), 0);
	cr_expect_eq(lab_server_kill(s), 0, "%s", lab_errmsg());
	cr_expect_lt(lab_server_pause(s), 0);
	cr_expect_lt(lab_server_resume(s), 0);
	lab_server_free(s);
}

Test(server, a_server_that_cannot_start_says_why)
{
	struct lab_redis_options o = { .config = "no-such-directive 1\n" };

	cr_expect_null(lab_redis_start(&o));
	cr_expect(strstr(lab_errmsg(), "no-such-directive"), "%s",
		  lab_errmsg());
	cr_expect(strstr(lab_errmsg(), "redis-server ended at once"), "%s",
		  lab_errmsg());
}

static int odd_command(struct lab_server *s, struct lab_args *args)
{
	(void)s;
	lab_arg(args, "no-such-server");
	return 0;
}

static int no_answer(struct lab_server *s, int64_t deadline)
{
	(void)s;
	(void)deadline;
	return 0;
}

Test(server, one_that_is_not_installed_is_named)
{
	static const struct lab_server_kind odd = { .name = "odd",
						    .command = odd_command,
						    .probe = no_answer };

	cr_expect_null(lab_server_start(&odd, NULL, true, false));
	cr_expect(strstr(lab_errmsg(), "no-such-server: not found"), "%s",
		  lab_errmsg());
}
