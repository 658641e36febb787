/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "lab/servers/redis.h"
#include "lab/servers/server.h"

static struct lab_server *redis(const struct lab_redis_options *options)
{
	struct lab_server *s = lab_redis_start(options);

	cr_assert(s, "%s", lab_errmsg());
	return s;
}

static void answers(struct lab_server *s)
{
	char text[64] = "";

	cr_assert_eq(lab_redis_do(s, text, sizeof(text), "PING"), 0, "%s",
		     lab_errmsg());
	cr_expect_str_eq(text, "PONG");
}

static int process_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

static int path_gone(void *path)
{
	return access(path, F_OK) < 0;
}

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

	cr_expect_null(lab_server_start(&odd, NULL, 0, false));
	cr_expect(strstr(lab_errmsg(), "no-such-server: not found"), "%s",
		  lab_errmsg());
}

/* ---- Servers end with the process that started the servers --------------- */

TestSuite(server_end, .timeout = 120);

struct left { /* a child's server, told by the child before the end */
	pid_t pid;
	char dir[96];
};

static void start_and_end(int fd, int how)
{
	struct lab_server *s = lab_redis_start(NULL);
	struct left left = { 0 };

	if (!s)
		_exit(1);
	left.pid = lab_server_pid(s);
	snprintf(left.dir, sizeof(left.dir), "%s", s->dir);
	if (write(fd, &left, sizeof(left)) != sizeof(left))
		_exit(1);
	if (how)
		raise(how);
	_exit(0);
}

static struct left run_child(int how)
{
	struct left left = { 0 };
	int fds[2];
	pid_t pid;

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		start_and_end(fds[1], how);
	close(fds[1]);
	cr_assert_eq(read(fds[0], &left, sizeof(left)), sizeof(left));
	close(fds[0]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return left;
}

Test(server_end, none_is_left_behind_however_we_end)
{
	static const int ends[] = { 0, SIGKILL, SIGABRT, SIGTERM };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct left left = run_child(ends[i]);

		cr_expect(lab_wait_until(lab_after_ms(10000), process_gone,
					 &left.pid),
			  "server %d is left behind", left.pid);
		cr_expect(lab_wait_until(lab_after_ms(10000), path_gone,
					 left.dir),
			  "%s is left behind", left.dir);
	}
}

static void *start_in_thread(void *arg)
{
	(void)arg;
	return lab_redis_start(NULL);
}

Test(server_end, it_outlives_the_thread_that_started_it)
{
	struct lab_server *s;
	pthread_t thread;
	void *result;

	cr_assert_eq(pthread_create(&thread, NULL, start_in_thread, NULL), 0);
	cr_assert_eq(pthread_join(thread, &result), 0);
	cr_assert(result);
	s = result;
	lab_nap_ms(20); /* a signal for the thread's end would have come */
	answers(s);
	lab_server_free(s);
}

/* The supervisor is killed, too; then the kernel ends the server. */
Test(server_end, it_does_not_outlive_its_supervisor)
{
	struct lab_server *s = redis(NULL);
	pid_t pid = lab_server_pid(s);
	char path[64];
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	cr_assert(f);
	cr_assert_eq(fscanf(f, "%*d (%*[^)]) %*c %d", &parent), 1);
	fclose(f);
	cr_assert_neq(parent, getpid());
	cr_assert_eq(kill(parent, SIGKILL), 0);
	cr_expect(lab_wait_until(lab_after_ms(10000), process_gone, &pid));
	cr_expect_lt(lab_server_restart(s, true), 0);
	lab_server_remove(s, ".");
	rmdir(s->dir);
	lab_server_free(s);
}

Test(server_end, a_forked_child_cannot_touch_it)
{
	struct lab_server *s = redis(NULL);
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(lab_server_kill(s) < 0 && lab_server_restart(s, 1) < 0 ?
			      0 :
			      1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	answers(s);
	lab_server_free(s);
}
