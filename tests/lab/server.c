/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "lab/servers/server.h"

#include <criterion/criterion.h>

TestSuite(server, .timeout = 120);

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
