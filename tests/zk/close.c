/* SPDX-License-Identifier: Apache-2.0 */
/* A close while the client opens, or with more holds than there is time for
 * round trips. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "support/outcome.h"
#include "support/process.h"

TestSuite(zk_close, .timeout = 120);

#define HOLDS 200
#define TRIP_MS 25
#define CLOSE_MS 2000 /* by default; a release at a time takes 5 s */

static void hear(int fd, void *buf, size_t len)
{
	if (read(fd, buf, len) != (ssize_t)len)
		_exit(CHECK_FAILED);
}

/* The child: read the port, hold all locks, say so, wait for the order to
 * close, and exit. */
static void hold_and_close(int in, int out)
{
	dlock_client *c;
	char name[32], byte = 0;
	int64_t begun;
	int port;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hear(in, &port, sizeof(port));
	c = client(port, "?ttl=60s");
	for (int i = 0; i < HOLDS; i++) {
		snprintf(name, sizeof(name), "lock%d", i);
		take(mutex(c, name), PATIENCE);
	}
	if (write(out, &byte, 1) != 1)
		_exit(CHECK_FAILED);
	hear(in, &byte, 1);
	begun = now_ms();
	dlock_close(c);
	/* A release at a time takes until the deadline. */
	_exit(now_ms() - begun < CLOSE_MS / 2 + slack_ms() ? 0 : CHECK_FAILED);
}

static int held(void)
{
	struct String_vector v = { 0 };
	char path[300];
	int n = 0;

	CHECK_INT(zoo_get_children(bare(), "/dlock", 0, &v), ==, ZOK);
	for (int i = 0; i < v.count; i++) {
		snprintf(path, sizeof(path), "/dlock/%.256s", v.data[i]);
		n += children(path, NULL);
	}
	deallocate_String_vector(&v);
	return n;
}

/* The child exits after the close, so all releases are done by then. */
OWN(zk_close, leaves_none_of_many_holds)
{
	int to[2], from[2], port;
	struct lab_proxy *p;
	char byte = 0;
	pid_t pid;

	CHECK_INT(pipe(to), ==, 0);
	CHECK_INT(pipe(from), ==, 0);
	pid = fork();
	CHECK_INT(pid, >=, 0);
	if (pid == 0)
		hold_and_close(to[0], from[1]);
	p = proxy(s);
	port = lab_proxy_port(p);
	CHECK_INT(write(to[1], &port, sizeof(port)), ==, sizeof(port));
	CHECK_INT(read(from[0], &byte, 1), ==, 1);
	CHECK_INT(held(), ==, HOLDS);
	lab_proxy_delay(p, LAB_DOWN, TRIP_MS);
	CHECK_INT(write(to[1], &byte, 1), ==, 1);
	CHECK_INT(process_wait(pid, PATIENCE), ==, 0);
	CHECK_INT(held(), ==, 0);
}

/* Close a client that has begun to open, and waits for an answer.  A thread
 * that spins until the session has ended uses a tenth of a second. */
static void close_while_it_opens(struct lab_proxy *p, enum lab_proxy_stat seen)
{
	struct outcome o = { 0 };
	dlock_client *c = NULL;
	char uri[512];
	int64_t begun, used;

	/* A silent server is left after 10 s. */
	uri_as(uri, "", lab_proxy_port(p), "?connect=30s&ttl=60s");
	CHECK_OK(dlock_open_start(uri, NULL, &c, outcome_note, &o));
	if (lab_proxy_wait(p, seen, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	begun = now_ms();
	used = cpu_ms();
	dlock_close(c);
	CHECK_INT(cpu_ms() - used, <=, 10 * slowness());
	CHECK_INT(now_ms() - begun, <=, 500 + slack_ms());
	CHECK_INT(o.rc, ==, DLOCK_ECANCELED);
}

CASE(zk_close, ends_an_open_at_a_silent_server)
{
	struct lab_proxy *p = proxy(server(NULL));

	lab_proxy_hole(p, LAB_DOWN, true);
	close_while_it_opens(p, LAB_UP_BYTES);
}

/* The session stands, and the root's answer is missing. */
CASE(zk_close, ends_an_open_that_waits_for_the_root)
{
	struct lab_proxy *p = proxy(server(NULL));

	lab_proxy_swallow(p, "dlock", LAB_THEN_STRAND);
	close_while_it_opens(p, LAB_SWALLOWED);
}
