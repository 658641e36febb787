/* SPDX-License-Identifier: Apache-2.0 */
/* The client library has no threads: dlock's threads call the library. */
#include "backends/zk/client.h" /* first: dlock's copy of the library */

#include "zk/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/session.h"
#include "core/client.h"

TestSuite(zk_drive, .timeout = 120);

#define THREADS 4

static uint64_t misses(dlock_client *c)
{
	struct zk_session *s = dlki_zk_session_of(c->session);
	uint64_t n;

	pthread_mutex_lock(&s->mu);
	n = s->hosts.misses;
	pthread_mutex_unlock(&s->mu);
	return n;
}

/* After so many refused connections the server accepts a connection without
 * ever answering there.  The client connects again, and is answered. */
static void gets_no_session(uint64_t refusals)
{
	struct lab_server *s = server(NULL);
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=2m&ask=1s");
	dlock_lock *l = mutex(c, "lock");
	uint64_t accepted;

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	accepted = lab_proxy_stat(p, LAB_ACCEPTED);
	if (refusals > 0) {
		lab_proxy_refuse(p, true);
		lab_proxy_reset(p);
		EVENTUALLY(misses(c) >= refusals);
	}
	lab_proxy_hole(p, LAB_UP, true);
	if (refusals > 0)
		lab_proxy_refuse(p, false);
	else
		lab_proxy_reset(p);
	CHECK_INT(lab_proxy_wait(p, LAB_ACCEPTED, accepted + 1, PATIENCE), ==,
		  0);
	lab_proxy_strand(p);
	lab_proxy_hole(p, LAB_UP, false);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
}

CASE(zk_drive, a_connection_that_gets_no_session_is_left)
{
	gets_no_session(0);
}

/* A server that starts refuses connections, and is not slow for that. */
CASE(zk_drive, a_connection_that_gets_no_session_is_left_after_refusals_too)
{
	gets_no_session(6);
}

struct asker {
	dlock_lock *lock;
	long sleeps; /* of the thread, in the call */
};

static long sleeps(void)
{
	struct rusage r;

	CHECK_INT(getrusage(RUSAGE_THREAD, &r), ==, 0);
	return r.ru_nvcsw;
}

static void *ask_in_vain(void *arg)
{
	struct asker *a = arg;
	dlock_hold *h = NULL;
	long before = sleeps();

	CHECK_RC(dlock_acquire(a->lock, 1000, &h), DLOCK_EUNREACHABLE);
	a->sleeps = sleeps() - before;
	return NULL;
}

/* A thread that looks every 10 ms sleeps a hundred times and more. */
CASE(zk_drive, threads_without_a_connection_sleep)
{
	struct lab_proxy *p = proxy(server(NULL));
	dlock_client *c = client(lab_proxy_port(p), "?ttl=2m&ask=1s");
	uint64_t accepted = lab_proxy_stat(p, LAB_ACCEPTED);
	struct asker a[THREADS] = { 0 };
	pthread_t thread[THREADS];

	lab_proxy_hole(p, LAB_UP, true);
	lab_proxy_reset(p);
	CHECK_INT(lab_proxy_wait(p, LAB_ACCEPTED, accepted + 1, PATIENCE), ==,
		  0);
	for (int i = 0; i < THREADS; i++) {
		a[i].lock = mutex(c, "lock");
		CHECK_INT(pthread_create(&thread[i], NULL, ask_in_vain, &a[i]),
			  ==, 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		CHECK_INT(a[i].sleeps, <, 50);
	}
}

/* ---- Readers of a silent connection -------------------------------------- */

struct reader {
	struct zk_session *s;
	struct zk_call *call;
	dlk_time until;
	pthread_t thread;
	atomic_int over;
};

static void *await_reply(void *arg)
{
	struct reader *r = arg;

	pthread_mutex_lock(&r->s->mu);
	dlki_zk_wait(r->s, &r->call, 1, r->until);
	dlki_zk_drop(&r->call, 1);
	pthread_mutex_unlock(&r->s->mu);
	r->over = 1;
	return NULL;
}

static void read_until(struct reader *r, int64_t ms)
{
	r->until = dlk_now() + ms * DLK_MS;
	CHECK(pthread_create(&r->thread, NULL, await_reply, r) == 0);
}

/* Go on with another connection; returns the first, which is not closed. */
static struct zk_conn *move_on(struct zk_session *s)
{
	struct zk_conn *old = s->conn, *next;
	struct dlk_error err;

	dlki_zk_conn_down(old);
	next = dlki_zk_conn_open(s, &old->id, &err);
	CHECK(next);
	dlki_zk_conn_use(next);
	zoo_set_servers(old->zh, "255.255.255.255:1");
	return old;
}

static int is_read(struct zk_session *s)
{
	int reading;

	pthread_mutex_lock(&s->mu);
	reading = s->drive.reading;
	pthread_mutex_unlock(&s->mu);
	return reading;
}

static int n_waiting(struct zk_session *s)
{
	int n = 0;

	pthread_mutex_lock(&s->mu);
	for (struct zk_reply_wait *w = s->drive.waiting; w; w = w->next)
		n++;
	pthread_mutex_unlock(&s->mu);
	return n;
}

/* The case takes the part of the reader, and leaves when the time of the first
 * of two waiting threads is over.  Without a wake the second looks again after
 * five seconds. */
OWN(zk_drive, a_thread_that_gives_up_passes_the_turn_on)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=2m&ask=1s");
	struct zk_session *z = dlki_zk_session_of(c->session);
	struct reader r[2] = { { .s = z }, { .s = z } };
	int64_t begun;

	lab_proxy_hole(p, LAB_DOWN, true);
	pthread_mutex_lock(&z->mu);
	z->drive.reading = 1;
	for (int i = 0; i < 2; i++)
		r[i].call = dlki_zk_get(z, "/");
	pthread_mutex_unlock(&z->mu);
	for (int i = 0; i < 2; i++) {
		read_until(&r[i], i == 0 ? 200 : PATIENCE);
		EVENTUALLY(n_waiting(z) == i + 1);
	}
	pthread_mutex_lock(&z->mu);
	EVENTUALLY(dlk_now() > r[0].until);
	z->drive.reading = 0;
	begun = now_ms();
	dlki_zk_drive_leave(z);
	pthread_mutex_unlock(&z->mu);
	EVENTUALLY(is_read(z));
	CHECK_INT(now_ms() - begun, <, 1000 * slowness());
	lab_proxy_heal(p);
	for (int i = 0; i < 2; i++)
		pthread_join(r[i].thread, NULL);
}

/* A request went over the first connection, and the thread that waits for the
 * answer reads from the next, which is silent. */
OWN(zk_drive, a_reader_hears_that_its_request_has_failed)
{
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p),
				 "?ttl=2m&ask=1s&connect=40s");
	struct reader r = { .s = dlki_zk_session_of(c->session) };
	struct zk_conn *old;
	int64_t begun;
	uint64_t up;

	lab_proxy_hole(p, LAB_DOWN, true);
	up = lab_proxy_stat(p, LAB_UP_CHUNKS);
	pthread_mutex_lock(&r.s->mu);
	r.call = dlki_zk_get(r.s, "/");
	old = move_on(r.s);
	pthread_mutex_unlock(&r.s->mu);
	read_until(&r, PATIENCE);
	CHECK_INT(lab_proxy_wait(p, LAB_UP_CHUNKS, up + 2, PATIENCE), ==, 0);
	EVENTUALLY(is_read(r.s));
	begun = now_ms();
	dlki_zk_conn_close(old);
	EVENTUALLY(r.over);
	CHECK_INT(now_ms() - begun, <, 1000 * slowness());
	pthread_join(r.thread, NULL);
	lab_proxy_heal(p);
}

/* ---- Descriptors --------------------------------------------------------- */

/* The child has a copy of the socket that the server closes. */
OWN(zk_drive, a_child_s_descriptors_cost_nothing)
{
	dlock_client *c = client(s->port, "?ttl=60s&ask=8s");
	dlock_lock *l = mutex(c, "lock");
	int64_t before;
	pid_t child;

	CHECK_OK(dlock_release(take(l, PATIENCE)));
	child = fork();
	CHECK_INT(child, >=, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	CHECK_INT(lab_server_restart(s, true), ==, 0);
	CHECK_OK(dlock_release(take(l, PATIENCE)));
	before = cpu_ms();
	nap_ms(1000);
	CHECK_INT(cpu_ms() - before, <, 100);
	kill(child, SIGKILL);
	CHECK_INT(waitpid(child, NULL, 0), ==, child);
}

OWN(zk_drive, nothing_is_open_over_exec)
{
	int before[64], n = 0;

	for (int fd = 3; fd < 64; fd++)
		before[fd] = fcntl(fd, F_GETFD);
	client(s->port, "?ttl=30s");
	for (int fd = 3; fd < 64; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (before[fd] >= 0 || flags < 0)
			continue;
		CHECK(flags & FD_CLOEXEC);
		n++;
	}
	CHECK_INT(n, >=, 4);
}
