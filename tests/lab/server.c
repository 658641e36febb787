/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"
#include "lab/servers/server.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
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

Test(server, a_killed_server_without_persistence_is_empty)
{
	struct lab_server *s = redis(NULL);

	expect(s, "SET k v", "OK");
	cr_assert_eq(lab_server_kill(s), 0);
	cr_assert_eq(lab_server_restart(s, true), 0, "%s", lab_errmsg());
	expect(s, "GET k", "");
	lab_server_free(s);
}

/* A command sent right after the pause must get no answer. Repeat: a thread
 * that runs on for a moment is easily missed. */
Test(server, a_paused_server_does_nothing)
{
	struct lab_server *s = redis(NULL);
	struct lab_address to = lab_server_address(s);
	char reply[64];

	for (int i = 0; i < 20; i++) {
		int fd = lab_connect(&to, lab_after_ms(5000));

		cr_assert_geq(fd, 0, "%s", lab_errmsg());
		cr_assert_eq(lab_server_pause(s), 0, "%s", lab_errmsg());
		cr_assert_eq(lab_send(fd, "PING\r\n", 6, lab_after_ms(5000)),
			     0);
		lab_nap_ms(5);
		cr_expect_lt(recv(fd, reply, sizeof(reply), MSG_DONTWAIT), 0);
		cr_assert_eq(lab_server_resume(s), 0, "%s", lab_errmsg());
		fcntl(fd, F_SETFL, 0);
		cr_expect_eq(recv(fd, reply, sizeof(reply), 0), 7);
		close(fd);
	}
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

static bool whole_line(const char *reply, size_t len)
{
	return reply[len - 1] == '\n';
}

static void ask(struct lab_server *s, const char *request, const char *begins)
{
	struct lab_address to = lab_server_address(s);
	char reply[256];

	cr_assert_eq(lab_ask(&to, request, reply, sizeof(reply), whole_line,
			     lab_after_ms(5000)),
		     0, "%s", lab_errmsg());
	cr_expect_eq(strncmp(reply, begins, strlen(begins)), 0, "%s", reply);
}

Test(server, passwords_and_users_do_not_lock_the_lab_out)
{
	struct lab_redis_options o = {
		.password = "hunter2",
		.users = "user app on >pw ~app:* +get +set\n",
	};
	struct lab_server *s = redis(&o);

	expect(s, "SET k v", "OK");
	ask(s, "GET k\r\n", "-NOAUTH");
	ask(s, "AUTH hunter2\r\n", "+OK");
	ask(s, "AUTH hunter3\r\n", "-WRONGPASS");
	ask(s, "AUTH app pw\r\n", "+OK");
	lab_server_free(s);
}

static int has_k(void *replica)
{
	char reply[16];

	return lab_redis_do(replica, reply, sizeof(reply), "GET k") == 0 &&
	       strcmp(reply, "v") == 0;
}

Test(server, a_replica_follows_and_is_promoted)
{
	struct lab_redis_options with_password = { .password = "hunter2" };
	struct lab_server *master = redis(&with_password);
	struct lab_redis_options o = { .replica_of = master };
	struct lab_server *replica = redis(&o);

	cr_assert_eq(lab_redis_wait_synced(replica, 20000), 0, "%s",
		     lab_errmsg());
	expect(master, "SET k v", "OK");
	cr_assert_gt(lab_wait_until(lab_after_ms(10000), has_k, replica), 0);
	cr_expect_lt(lab_redis_do(replica, NULL, 0, "SET k w"), 0);
	cr_assert_eq(lab_server_kill(master), 0);
	expect(replica, "REPLICAOF NO ONE", "OK");
	expect(replica, "SET k w", "OK");
	lab_server_free(replica);
	lab_server_free(master);
}

static int off_by(struct lab_server *s, int64_t want_ms)
{
	struct timespec ts;
	int64_t now;

	clock_gettime(CLOCK_REALTIME, &ts);
	now = ts.tv_sec * 1000 + ts.tv_nsec / LAB_MS;
	return llabs(lab_redis_time_ms(s) - now - want_ms) > 2000;
}

Test(server, the_wall_clock_of_redis_can_be_stepped)
{
	struct lab_redis_options o = { .wall = true };
	struct lab_server *s = redis(&o);
	char reply[32];

	cr_expect_not(off_by(s, 0), "%s", lab_errmsg());
	expect(s, "SET k v PX 30000", "OK");
	cr_assert_eq(lab_server_step_wall(s, -40000), 0);
	cr_expect_not(off_by(s, -40000));
	cr_assert_eq(lab_redis_do(s, reply, sizeof(reply), "PTTL k"), 0);
	cr_expect_gt(strtol(reply, NULL, 10), 60000, "%s", reply);
	cr_assert_eq(lab_server_step_wall(s, 40000), 0);
	cr_expect_not(off_by(s, 40000));
	expect(s, "GET k", "");
	cr_assert_eq(lab_server_restart(s, true), 0, "%s", lab_errmsg());
	cr_expect_not(off_by(s, 40000));
	cr_assert_eq(lab_server_step_wall(s, 0), 0);
	cr_expect_not(off_by(s, 0));
	lab_server_free(s);

	s = redis(NULL);
	cr_expect_lt(lab_server_step_wall(s, 1), 0);
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

Test(server, memcached_starts_flushes_and_restarts)
{
	struct lab_memcached_options o = { .memory_mb = 2, .no_evict = true };
	struct lab_server *s = lab_memcached_start(&o);
	char reply[16384];
	int port;

	cr_assert(s, "%s", lab_errmsg());
	port = s->port;
	cr_expect_eq(lab_memcached_do(s, reply, sizeof(reply), "stats"), 0);
	cr_expect(strstr(reply, "STAT limit_maxbytes 2097152"), "%s", reply);
	cr_expect(strstr(reply, "\r\nEND\r\n"), "%s", reply);
	cr_expect_eq(lab_memcached_do(s, reply, sizeof(reply), "flush_all"), 0);
	cr_expect_str_eq(reply, "OK\r\n");
	cr_expect_lt(lab_memcached_do(s, NULL, 0, "nonsense"), 0);
	cr_assert_eq(lab_server_kill(s), 0);
	cr_assert_eq(lab_server_restart(s, false), 0, "%s", lab_errmsg());
	cr_expect_eq(s->port, port);
	cr_assert_eq(lab_server_pause(s), 0, "%s", lab_errmsg());
	cr_assert_eq(lab_server_resume(s), 0, "%s", lab_errmsg());
	cr_expect_eq(lab_memcached_do(s, NULL, 0, "version"), 0);
	lab_server_free(s);

	o.no_tcp = true;
	s = lab_memcached_start(&o);
	cr_assert(s, "%s", lab_errmsg());
	cr_expect_eq(lab_memcached_do(s, NULL, 0, "version"), 0, "%s",
		     lab_errmsg());
	lab_server_free(s);
}
