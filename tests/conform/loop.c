/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor, dlock_process() and dlock_wait(), as an event loop sees
 * them. */
#include <dlock/async.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "conform/cases.h"
#include "support/outcome.h"
#include "support/process.h"

enum { FEW = 5 };

static void processed(dlock_client *c)
{
	CHECK_INT(dlock_process(c, 0), ==, 0);
}

/* ---- The descriptor ------------------------------------------------------ */

void case_loop_descriptor(struct conform *t)
{
	struct outcome o = { 0 }, done = { 0 };
	dlock_hold *h;
	int fd;

	use_unbound(t);
	fd = dlock_client_fd(t->client);
	CHECK_INT(fd, >=, 0);
	CHECK_INT(dlock_client_fd(t->client), ==, fd);
	processed(t->client);
	h = take(unbound(t, another_client(t, NULL, NULL)));
	ask_async(&o, t->lock, -1);
	await_waiters(t, 1);
	CHECK(!is_readable(fd, 0));
	CHECK_INT(dlock_due_ms(t->client), ==, -1);
	give(h);
	CHECK(is_readable(fd, patience_ms()));
	CHECK_INT(dlock_due_ms(t->client), ==, 0);
	CHECK_INT(dlock_pending(t->client), ==, 1);
	CHECK_INT(outcomes_called(&o, 1), ==, 0);
	processed(t->client);
	CHECK(!is_readable(fd, 0));
	CHECK_INT(dlock_pending(t->client), ==, 0);
	CHECK_INT(outcomes_called(&o, 1), ==, 1);
	CHECK(pthread_equal(o.thread, pthread_self()));
	CHECK(o.client == t->client);
	give_async(&done, o.hold);
	CHECK(is_readable(fd, patience_ms()));
	CHECK_INT(outcomes_called(&done, 1), ==, 0);
	processed(t->client);
	CHECK_INT(outcome_of(&done), ==, DLOCK_OK);
	is_free(t->lock);
}

/* A completion is due before the descriptor exists. */
void case_loop_due_before(struct conform *t)
{
	struct outcome o = { 0 };

	use_unbound(t);
	ask_async(&o, t->lock, -1);
	EVENTUALLY(dlock_due_ms(t->client) == 0);
	CHECK(is_readable(dlock_client_fd(t->client), 0));
	processed(t->client);
	CHECK(!is_readable(dlock_client_fd(t->client), 0));
	CHECK_INT(outcomes_called(&o, 1), ==, 1);
	give(o.hold);
}

static void next_edge(int loop, dlock_client *c)
{
	struct epoll_event e;

	CHECK_INT(epoll_wait(loop, &e, 1, (int)patience_ms()), ==, 1);
	while (dlock_process(c, 1) > 0)
		continue;
}

static void edges_until(int loop, dlock_client *c, struct outcome *o, int n)
{
	while (outcomes_called(o, FEW) < n)
		next_edge(loop, c);
	for (int i = 0; i < FEW; i++) {
		if (o[i].hold)
			give(o[i].hold);
		o[i].hold = NULL;
	}
}

/* Three calls are refused, two are granted. */
void case_loop_edge_triggered(struct conform *t)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	struct outcome o[FEW] = { 0 };
	int loop = epoll_create1(EPOLL_CLOEXEC);
	dlock_hold *h;

	use_unbound(t);
	h = take(unbound(t, another_client(t, NULL, NULL)));
	CHECK_INT(epoll_ctl(loop, EPOLL_CTL_ADD, dlock_client_fd(t->client),
			    &e),
		  ==, 0);
	for (int i = 0; i < FEW; i++)
		ask_async(&o[i], t->lock, i < 2 ? -1 : 0);
	edges_until(loop, t->client, o, FEW - 2);
	give(h);
	edges_until(loop, t->client, o, FEW - 1);
	edges_until(loop, t->client, o, FEW);
	close(loop);
	is_free(t->lock);
}

void case_loop_one_at_a_time(struct conform *t)
{
	struct outcome o[FEW] = { 0 };
	int fd;

	fd = dlock_client_fd(t->client);
	for (int i = 0; i < FEW; i++) {
		char name[] = "loop 0";
		dlock_lock *l;

		name[5] = (char)('0' + i);
		l = any_lock(t, t->client, MUTEX, 0, name);
		CHECK_OK(dlock_lock_unbind(l));
		ask_async(&o[i], l, -1);
	}
	CHECK_INT(dlock_pending(t->client), ==, FEW);
	for (int i = 0; i < FEW; i++) {
		CHECK(is_readable(fd, patience_ms()));
		EVENTUALLY(dlock_process(t->client, 1) >= 0 &&
			   outcomes_called(o, FEW) == i + 1);
		CHECK_INT(dlock_pending(t->client), ==, FEW - i - 1);
	}
	CHECK_INT(dlock_process(t->client, 1), ==, 0);
	CHECK(!is_readable(fd, 0));
	for (int i = 0; i < FEW; i++)
		give(o[i].hold);
}

/* The cancellation takes effect after the call. */
static void *nudge_cancelled(void *arg)
{
	int rc;

	pthread_cancel(pthread_self());
	rc = dlock_nudge(arg);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return rc == DLOCK_OK ? arg : NULL;
}

void case_loop_nudge(struct conform *t)
{
	int fd = dlock_client_fd(t->client);
	pthread_t thread;
	void *end;

	CHECK_RC(dlock_wait(t->client, 0), DLOCK_EBUSY);
	CHECK_RC(dlock_wait(t->client, 20), DLOCK_EBUSY);
	CHECK_OK(dlock_nudge(t->client));
	CHECK_OK(dlock_nudge(t->client));
	CHECK(is_readable(fd, 0));
	CHECK_INT(dlock_due_ms(t->client), ==, 0);
	CHECK_OK(dlock_wait(t->client, -1));
	CHECK(!is_readable(fd, 0));
	CHECK_RC(dlock_wait(t->client, 0), DLOCK_EBUSY);
	CHECK_OK(dlock_nudge(t->client));
	processed(t->client);
	CHECK(!is_readable(fd, 0));
	CHECK_INT(pthread_create(&thread, NULL, nudge_cancelled, t->client), ==,
		  0);
	CHECK_INT(pthread_join(thread, &end), ==, 0);
	CHECK(end == t->client);
	CHECK(is_readable(fd, 0));
	processed(t->client);
	CHECK_RC(dlock_nudge(NULL), DLOCK_EINVAL);
}

void case_loop_wait(struct conform *t)
{
	struct outcome o = { 0 }, late = { 0 };
	dlock_hold *h;
	dlock_op op;

	use_unbound(t);
	op = ask_async(&o, t->lock, -1);
	CHECK_OK(dlock_wait(t->client, patience_ms()));
	CHECK_INT(outcomes_called(&o, 1), ==, 1);
	h = o.hold;
	ask_async(&late, unbound(t, t->client), 50);
	CHECK_RC(dlock_cancel_op(t->client, op), DLOCK_EINVAL);
	CHECK_OK(dlock_wait(t->client, -1));
	CHECK_INT(outcomes_called(&late, 1), ==, 1);
	CHECK_RC(late.rc, DLOCK_EBUSY);
	CHECK_RC(dlock_wait(t->client, -2), DLOCK_EINVAL);
	give(h);
}

/* ---- Two threads --------------------------------------------------------- */

struct pair {
	dlock_client *client;
	atomic_int stop, inside, most, told, wrong;
};

static void *processes(void *arg)
{
	struct pair *p = arg;
	int rc;

	while (!atomic_load(&p->stop)) {
		rc = dlock_process(p->client, 3);
		if (rc < 0 && rc != DLOCK_EBUSY)
			atomic_store(&p->wrong, 1);
	}
	return NULL;
}

static void is_alone(const struct dlock_result *r, void *arg)
{
	struct pair *p = arg;
	int n = atomic_fetch_add(&p->inside, 1) + 1;

	if (n > atomic_load(&p->most))
		atomic_store(&p->most, n);
	if (r->code != DLOCK_OK ||
	    dlock_process(r->client, 0) != DLOCK_EDEADLK ||
	    dlock_wait(r->client, 0) != DLOCK_EDEADLK ||
	    dlock_release_start(r->hold, NULL, NULL) != DLOCK_OK)
		atomic_store(&p->wrong, 1);
	atomic_fetch_sub(&p->inside, 1);
	atomic_fetch_add(&p->told, 1);
}

void case_loop_two_threads(struct conform *t)
{
	enum { GRANTS = 40 }; /* a store on a slow disk takes 0.1 s for each */
	struct pair p = { .client = t->client };
	pthread_t thread[2];

	use_unbound(t);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, processes, &p), ==,
			  0);
	for (int i = 0; i < GRANTS; i++)
		CHECK_OK(dlock_acquire_start(t->lock, -1, is_alone, &p, NULL));
	EVENTUALLY(atomic_load(&p.told) == GRANTS);
	atomic_store(&p.stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK_INT(atomic_load(&p.most), ==, 1);
	CHECK_INT(atomic_load(&p.wrong), ==, 0);
	/* No callback tells when the release arrives. */
	give(take(t->lock));
}

struct held_up {
	dlock_lock *lock;
	struct outcome late;
	sem_t go_on;
	dlock_hold *_Atomic hold;
	int loop, fd; /* of a loop inside the callback */
};

/* Another callback comes due meanwhile. */
static void hold_up(const struct dlock_result *r, void *arg)
{
	struct held_up *h = arg;

	h->hold = r->hold;
	h->late.rc = dlock_acquire_start(h->lock, 0, outcome_note, &h->late,
					 NULL);
	sem_wait(&h->go_on);
}

/* In a callback, or beside it: the edge, and the refusal. */
static void meet_edge(const struct held_up *h, dlock_client *c, int code)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	EVENTUALLY(h->hold && dlock_due_ms(c) == 0);
	CHECK_INT(epoll_ctl(h->loop, EPOLL_CTL_ADD, h->fd, &e), ==, 0);
	CHECK_INT(epoll_wait(h->loop, &e, 1, 0), ==, 1);
	CHECK_RC(dlock_process(c, 0), code);
}

static void loop_inside(const struct dlock_result *r, void *arg)
{
	struct held_up *h = arg;

	h->hold = r->hold;
	h->late.rc = dlock_acquire_start(h->lock, 0, outcome_note, &h->late,
					 NULL);
	meet_edge(h, r->client, DLOCK_EDEADLK);
}

static void *wait_once(void *client)
{
	return dlock_wait(client, -1) == DLOCK_OK ? client : NULL;
}

static void *process_all(void *client)
{
	return dlock_process(client, FEW) == 0 ? client : NULL;
}

static void begin_edge(struct held_up *h, struct conform *t, dlock_done_fn done)
{
	*h = (struct held_up){
		.lock = t->lock,
		.late.rc = 1,
		.loop = epoll_create1(EPOLL_CLOEXEC),
		.fd = dlock_client_fd(t->client),
	};
	sem_init(&h->go_on, 0, 0);
	CHECK_OK(dlock_acquire_start(t->lock, -1, done, h, NULL));
	EVENTUALLY(dlock_due_ms(t->client) == 0);
}

/* There is another edge for what is left, and for what comes later. */
static void end_edge(struct held_up *h, struct conform *t)
{
	struct outcome last = { 0 };

	ask_async(&last, t->lock, 0);
	while (outcomes_called(&h->late, 1) + outcomes_called(&last, 1) < 2)
		next_edge(h->loop, t->client);
	CHECK_RC(h->late.rc, DLOCK_EBUSY);
	close(h->loop);
	sem_destroy(&h->go_on);
	give(h->hold);
}

/* The edge comes while another thread processes. */
static void refuse_edge(struct conform *t, void *(*processes)(void *client))
{
	struct held_up h;
	pthread_t thread;
	void *end;

	begin_edge(&h, t, hold_up);
	CHECK_INT(pthread_create(&thread, NULL, processes, t->client), ==, 0);
	meet_edge(&h, t->client, DLOCK_EBUSY);
	sem_post(&h.go_on);
	CHECK_INT(pthread_join(thread, &end), ==, 0);
	CHECK(end == t->client);
	end_edge(&h, t);
}

void case_loop_refused_edge(struct conform *t)
{
	struct held_up h;

	use_unbound(t);
	refuse_edge(t, wait_once);
	refuse_edge(t, process_all);
	begin_edge(&h, t, loop_inside);
	CHECK(process_all(t->client));
	end_edge(&h, t);
}

/* ---- Another process ----------------------------------------------------- */

/* The child gets no callback of the parent's calls. */
void case_loop_forked(struct conform *t)
{
	struct outcome o = { 0 };
	dlock_hold *h;
	dlock_op op;
	pid_t pid;

	use_unbound(t);
	h = take(unbound(t, another_client(t, NULL, NULL)));
	op = ask_async(&o, t->lock, -1);
	await_waiters(t, 1);
	pid = fork();
	if (pid == 0) {
		CHECK_RC(dlock_process(t->client, 0), DLOCK_EFORKED);
		CHECK_RC(dlock_cancel_op(t->client, op), DLOCK_EFORKED);
		CHECK_RC(dlock_release_start(h, NULL, NULL), DLOCK_EFORKED);
		CHECK_INT(dlock_pending(t->client), ==, 0);
		CHECK_INT(dlock_due_ms(t->client), ==, -1);
		CHECK_INT(outcomes_called(&o, 1), ==, 0);
		_exit(0);
	}
	CHECK_INT(process_wait(pid, patience_ms()), ==, 0);
	CHECK(!is_readable(dlock_client_fd(t->client), 0));
	give(h);
	CHECK_OK(outcome_of(&o));
	give(o.hold);
}
