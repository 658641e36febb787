/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of the notification channel dies. */
#include "support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/base/fail.h"

TestSuite(redis_channel, .timeout = 120);

/* The client behind the proxy waits; the next attempt is 20 s away, so an
 * earlier grant came by the channel. */
#define TTL "ttl=60s"
#define HEARD_MS 5000

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *far, *near;
static dlock_lock *l, *nl;
static dlock_hold *h;

static void set_up(const char *query)
{
	server = far_start(query, TTL, NULL, &proxy, &far, &near);
	l = mutex(far, "x");
	nl = mutex(near, "x");
}

static uint64_t subscribed(void)
{
	return calls(server, "subscribe");
}

/* The near client holds the lock; the taker waits, with the channel up. */
static void given_a_waiter(struct taker *t)
{
	h = take(nl, patience_ms());
	taker_queue(t, far, l, FOREVER);
	EVENTUALLY(subscribed() == 1);
}

static void hears_of_the_release(struct taker *t)
{
	int64_t begin = now_ms();

	give(h);
	EVENTUALLY(t->done);
	CHECK_OK(t->rc);
	CHECK_INT(t->done_ms - begin, <=, HEARD_MS);
	let_go(t);
	CHECK_OK(t->release_rc);
}

/* The server accepts the connection and does not answer. */
CASE(redis_channel, that_is_not_answered_is_tried_again)
{
	struct taker t = { 0 };
	uint64_t before;

	set_up(TTL "&close=400ms");
	given_a_waiter(&t);
	before = lab_proxy_stat(proxy, LAB_ACCEPTED);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	lab_proxy_reset(proxy);
	if (lab_proxy_wait(proxy, LAB_ACCEPTED, before + 3, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	lab_proxy_heal(proxy);
	EVENTUALLY(subscribed() > 1);
	hears_of_the_release(&t);
}

/* ---- A forked child ------------------------------------------------------ */

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
	struct taker t = { 0 };
	int64_t used;
	pid_t pid;

	set_up(TTL);
	/* Without the proxy: the child would inherit the proxy's sockets, too.
	 */
	far = client_of(server->port, TTL, NULL);
	l = mutex(far, "x");
	given_a_waiter(&t);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(60);
		pause();
		_exit(0);
	}
	server_do(server, "CLIENT KILL TYPE pubsub");
	EVENTUALLY(subscribed() == 2);
	used = cpu_ms();
	nap_ms(2000);
	CHECK_INT(cpu_ms() - used, <, 40);
	hears_of_the_release(&t);
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), ==, pid);
}

/* ---- Without threads ----------------------------------------------------- */

enum { MANY = 50 };

static void passed_on(const struct dlock_result *r, void *left)
{
	cr_assert_eq(r->code, DLOCK_OK, "%s", r->message);
	give(r->hold);
	--*(int *)left;
}

/* The thread that waits for answers is the one to take in the channel's.  The
 * server has the client wait as long as a request may, 2 s, if it does not. */
Test(redis_channel, is_opened_by_the_only_thread)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct lab_server *s = server_start(NULL);
	int left = MANY;
	dlock_client *c;
	dlock_lock *lock;

	o.no_threads = 1;
	c = client_of_case(uri_of(s->port, ""), &o);
	lock = mutex(c, "x");
	cr_assert_eq(dlock_lock_unbind(lock), DLOCK_OK);
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(dlock_acquire_start(lock, -1, passed_on, &left,
						 NULL),
			     DLOCK_OK);
	while (left > 0)
		cr_assert_eq(dlock_wait(c, patience_ms()), DLOCK_OK);
	cr_assert_eq(calls(s, "subscribe"), 1);
}
