/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by text, and lab-proxy. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "pair.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(proxy_command, .init = pair_set_up, .fini = pair_tear_down,
	  .timeout = 120);

static void command(const char *line, const char *want)
{
	char reply[768];

	lab_proxy_command(proxy, line, reply, sizeof(reply));
	cr_expect_eq(strncmp(reply, want, strlen(want)), 0, "%s: %s", line,
		     reply);
}

Test(proxy_command, takes_commands)
{
	command("delay both 5", "ok");
	command("delay sideways 5", "error: 'sideways': say up, down or both");
	command("delay up five", "error: 'five': not a number");
	command("delay up -1", "error: '-1': not a number of at least 0");
	command("delay up 1000000001", "error: '1000000001': not a number of ");
	command("delay up 9223372036854775807",
		"error: '9223372036854775807': not a number of at least 0 and "
		"at most 1000000000");
	command("delay up 99999999999999999999", "error: '9999");
	command("delay up 1000000000", "ok");
	command("drip up 9223372036854775807", "error: '9223");
	command("drip up 1", "ok");
	command("cut down 9223372036854775807", "ok");
	command("cut down -2", "error: '-2': not a number of at least -1");
	command("cut down -1", "ok");
	command("cut down 10000", "ok");
	command("hole up on", "ok");
	command("hole up maybe", "error: 'maybe': say on or off");
	command("refuse on", "ok");
	command("refuse off", "ok");
	command("half-close down", "ok");
	command("reset", "ok");
	command("swallow", "ok");
	command("swallow close DEL x", "ok");
	command("swallow whole",
		"error: 'whole': say nothing, close, reset or strand");
	command("hold", "ok");
	command("deliver", "ok");
	command("aim 127.0.0.1 1", "ok");
	command("aim 127.0.0.1 65535", "ok");
	command("aim 127.0.0.1 65536", "error: '65536': not a number of ");
	command("aim 127.0.0.1 99999999", "error: '99999999': not a number of "
					  "at least 1 and at most 65535");
	command("aim 127.0.0.1 0", "error: '0': not a number of at least 1");
	command("aim here 1", "error: here: not an IPv4 address");
	command("aim /no/such/socket", "ok");
	command("heal", "ok");
	command("stats", "ok accepted=1 ");
	command("", "error: '': no such command");
	command("explode", "error: 'explode': no such command");
}

Test(proxy_command, ports_that_are_none_are_refused)
{
	struct lab_address to = { .port = 65536 };
	struct lab_proxy_options o = { .to = to };

	cr_expect_lt(lab_proxy_aim(proxy, &to), 0);
	cr_expect_str_eq(lab_errmsg(), "65536: not a port");
	cr_expect_null(lab_proxy_new(&o));
	to.port = -1;
	cr_expect_lt(lab_proxy_aim(proxy, &to), 0);
	close(client);
	close(server);
	open_pair(); /* to the same server as before */
}

Test(proxy_command, commands_do_what_the_functions_do)
{
	command("hold DEL", "ok");
	put(client, "DEL a");
	saw(LAB_HELD, 1);
	command("deliver", "ok");
	expect_get(server, "DEL a");
	command("swallow nothing QUIT now", "ok");
	put(client, "QUIT now");
	expect_get(server, "QUIT now");
	put(server, "bye");
	saw(LAB_SWALLOWED, 1);
	command("half-close up", "ok");
	expect_get(server, "FIN");
}

static bool whole_line(const char *reply, size_t len)
{
	return reply[len - 1] == '\n';
}

Test(proxy_command, unix_sockets_on_both_sides_and_for_control)
{
	const char *tmp = getenv("TMPDIR");
	struct lab_redis_options options = { .no_tcp = true };
	struct lab_server *s = lab_redis_start(&options);
	struct lab_proxy_options o = { .port = 0 };
	struct lab_address to = { .port = 0 };
	char dir[64];
	char listen_path[96];
	char control_path[96];
	char reply[768];
	struct lab_proxy *p;
	int fd;

	cr_assert(s, "%s", lab_errmsg());
	snprintf(dir, sizeof(dir), "%s/proxy.XXXXXX", tmp ? tmp : "/tmp");
	cr_assert(mkdtemp(dir));
	snprintf(listen_path, sizeof(listen_path), "%s/l", dir);
	snprintf(control_path, sizeof(control_path), "%s/c", dir);
	o.to = lab_server_address(s);
	o.listen = listen_path;
	o.control = control_path;
	p = lab_proxy_new(&o);
	cr_assert(p, "%s", lab_errmsg());
	to.path = listen_path;
	fd = lab_connect(&to, lab_after_ms(LONG_MS));
	cr_assert_geq(fd, 0, "%s", lab_errmsg());
	put(fd, "PING\r\n");
	expect_get(fd, "+PONG\r\n");
	to.path = control_path;
	cr_assert_eq(lab_ask(&to, "hold SET\nswallow close PING\nstats\n",
			     reply, sizeof(reply), whole_line,
			     lab_after_ms(LONG_MS)),
		     0, "%s", lab_errmsg());
	put(fd, "PING\r\n");
	expect_get(fd, "FIN");
	close(fd);
	lab_proxy_free(p);
	cr_expect_lt(access(listen_path, F_OK), 0);
	cr_expect_lt(access(control_path, F_OK), 0);
	cr_expect_eq(rmdir(dir), 0);
	lab_server_free(s);
}

static FILE *run(pid_t *pid, char *const argv[])
{
	int fds[2];

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	*pid = fork();
	if (*pid == 0) {
		dup2(fds[1], 1);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	return fdopen(fds[0], "r");
}

static int run_command(char *program, char *control, char *word, char *word2)
{
	char *argv[] = { program, control, word, word2, NULL };
	int status;
	pid_t pid;
	FILE *f = run(&pid, argv);

	while (fgetc(f) != EOF)
		;
	fclose(f);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

Test(proxy_command, runs_from_a_shell)
{
	char *program = getenv("LAB_PROXY");
	const char *tmp = getenv("TMPDIR");
	char control[96];
	char aim[64];
	char *argv[] = { program, aim, "-c", control, NULL };
	struct lab_address to = { .port = 0 };
	int status;
	pid_t pid;
	FILE *f;

	if (!program)
		cr_skip_test("LAB_PROXY does not say where lab-proxy is");
	snprintf(control, sizeof(control), "%s/%d.ctl", tmp ? tmp : "/tmp",
		 (int)getpid());
	snprintf(aim, sizeof(aim), "127.0.0.1:%d", lab_proxy_port(proxy));
	f = run(&pid, argv);
	cr_assert_eq(fscanf(f, "127.0.0.1:%d", &to.port), 1);
	close(client);
	close(server);
	client = lab_connect(&to, lab_after_ms(LONG_MS));
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	put(client, "through two");
	expect_get(server, "through two");
	cr_expect_eq(run_command(program, control, "hole", NULL), 1);
	cr_expect_eq(run_command(program, control, "refuse", "on"), 0);
	cr_expect_lt(lab_connect(&to, lab_after_ms(LONG_MS)), 0);
	cr_expect_eq(run_command(program, control, "reset", NULL), 0);
	expect_get(client, "RST");
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	cr_expect_eq(status, 0);
	cr_expect_neq(run_command(program, control, "stats", NULL), 0);
	fclose(f);
}
