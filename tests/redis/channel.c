/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child and the connection of the notification channel. */
#include "support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(redis_channel, .timeout = 120);

static uint64_t subscribed(struct lab_server *server)
{
	return calls(server, "subscribe");
}

static int64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A forked child keeps the dead connection's socket open.  The parent does not
 * poll this socket: a thread that spins would get more than 2 % of a CPU, even
 * on a busy machine. */
CASE(redis_channel, that_a_child_inherits_is_forgotten)
{
	struct lab_server *server;
	dlock_client *waits, *holds;
	struct taker t = { 0 };
	int64_t used, begin;
	dlock_hold *h;
	pid_t pid;

	/* The waiter's next attempt is 20 s away, so an earlier grant came by
	 * the channel. */
	server = two_start("ttl=60s", NULL, &waits, &holds);
	h = take(mutex(holds, "x"), patience_ms());
	taker_queue(&t, waits, mutex(waits, "x"), FOREVER);
	EVENTUALLY(subscribed(server) == 1);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	server_do(server, "CLIENT KILL TYPE pubsub");
	EVENTUALLY(subscribed(server) == 2);
	used = cpu_ms();
	nap_ms(2000);
	CHECK_INT(cpu_ms() - used, <, 40);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.done_ms - begin, <=, 5000);
	let_go(&t);
	CHECK_OK(t.release_rc);
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), ==, pid);
}

/* ---- Without threads ----------------------------------------------------- */

enum { MANY = 50 };

static void passed_on(const struct dlock_result *r, void *left)
{
	CHECK_OK(r->code);
	give(r->hold);
	--*(int *)left;
}

/* The thread that waits for answers is the one to take in the channel's.  The
 * server has the client wait as long as a request may, 2 s, if it does not. */
CASE(redis_channel, is_opened_by_the_only_thread)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct lab_server *s = server_start(NULL);
	int left = MANY;
	dlock_client *c;
	dlock_lock *lock;

	o.no_threads = 1;
	c = client_of_case(uri_of(s->port, ""), &o);
	lock = mutex(c, "x");
	CHECK_OK(dlock_lock_unbind(lock));
	for (int i = 0; i < MANY; i++)
		CHECK_OK(dlock_acquire_start(lock, -1, passed_on, &left, NULL));
	while (left > 0)
		CHECK_OK(dlock_wait(c, patience_ms()));
	CHECK_INT(calls(s, "subscribe"), ==, 1);
}
