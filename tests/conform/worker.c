/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform/executor.h"
#include "support/process.h"

/* ---- Orders -------------------------------------------------------------- */

static const char *way_name(const struct worker *p)
{
	static const char *const ways[] = { "thread", "thread with a handle",
					    "client", "process" };

	return ways[p->way];
}

static void send_order(struct worker *p, int fd, enum op op, int64_t arg)
{
	struct order o = { op, arg };

	if (send(fd, &o, sizeof(o), MSG_NOSIGNAL) < 0)
		FAIL("worker %d (%s) is gone", p->number, way_name(p));
}

static struct reply receive_reply(struct worker *p, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int64_t end = now_ms() + patience_ms() + patience_ms() / 2;
	struct reply r;
	ssize_t n;
	int rc;

	do {
		int64_t left = end - now_ms();

		rc = poll(&ready, 1, left > 0 ? (int)left : 0);
	} while (rc < 0 && errno == EINTR);
	if (rc != 1)
		FAIL("worker %d (%s) does not answer", p->number, way_name(p));
	n = recv(fd, &r, sizeof(r), 0);
	if (n != (ssize_t)sizeof(r))
		FAIL("worker %d (%s) has ended", p->number, way_name(p));
	return r;
}

void tell(struct worker *p, enum op op, int64_t arg)
{
	send_order(p, p->fd, op, arg);
}

struct reply hear(struct worker *p)
{
	return receive_reply(p, p->fd);
}

struct reply ask(struct worker *p, enum op op, int64_t arg)
{
	tell(p, op, arg);
	return hear(p);
}

struct reply ask_beside(struct worker *p, enum op op, int64_t arg)
{
	CHECK_INT(p->control, >=, 0);
	send_order(p, p->control, op, arg);
	return receive_reply(p, p->control);
}

int quiet(struct worker *p)
{
	struct pollfd ready = { .fd = p->fd, .events = POLLIN };

	return poll(&ready, 1, 0) == 0;
}

/* ---- Joining ------------------------------------------------------------- */

static void make_sockets(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		FAIL("socketpair: %s", strerror(errno));
}

static void join_thread(struct conform *t, struct worker *p, const char *params)
{
	struct executor *e = calloc(1, sizeof(*e));
	dlock_options opts = DLOCK_OPTIONS_INIT;
	char label[32];
	int fd[2];

	if (!e)
		FAIL("out of memory");
	snprintf(label, sizeof(label), "worker %d", p->number);
	opts.label = label;
	make_sockets(fd);
	p->fd = fd[0];
	p->client = t->client;
	if (p->way == OTHER_CLIENT)
		p->client = another_client(t, params, &opts);
	*e = (struct executor){ .fd = fd[1],
				.number = p->number,
				.dir = t->dir,
				.client = p->client,
				.lock = t->lock };
	if (p->way != SAME_HANDLE)
		e->lock = handle(t, p->client);
	p->executor = e;
	if (pthread_create(&p->thread, NULL, executor_run, e) != 0)
		FAIL("cannot start a thread");
}

static void join_process(struct conform *t, struct worker *p,
			 const char *params)
{
	char kind[16], permits[16], number[16];
	char *argv[] = { "conform", "--worker", kind, permits,
			 number,    t->name,    NULL };
	struct process_files files = { .out = -1 };
	char *uri = uri_with(t->uri, params ? params : "");
	int fd[2], control[2];

	snprintf(kind, sizeof(kind), "%d", (int)t->kind);
	snprintf(permits, sizeof(permits), "%u", (unsigned int)t->permits);
	snprintf(number, sizeof(number), "%d", p->number);
	setenv("CONFORM_URI", uri, 1);
	free(uri);
	make_sockets(fd);
	make_sockets(control);
	files.keep[0] = fd[1];
	files.keep[1] = control[1];
	p->pid = process_start(argv, &files, 0);
	if (p->pid < 0)
		FAIL("cannot start a process: %s", strerror(errno));
	close(fd[1]);
	close(control[1]);
	p->fd = fd[0];
	p->control = control[0];
}

struct worker *join_with(struct conform *t, enum way way, const char *params)
{
	struct worker *p;

	if (way == OTHER_PROCESS && t->local)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		FAIL("out of memory");
	p->way = way;
	p->number = 1 + t->n_workers++ % (ARENA_SLOTS - 1);
	p->control = -1;
	if (way == OTHER_PROCESS)
		join_process(t, p, params);
	else
		join_thread(t, p, params);
	p->next = t->workers;
	t->workers = p;
	return p;
}

struct worker *join(struct conform *t, enum way way)
{
	return join_with(t, way, NULL);
}

/* ---- Leaving ------------------------------------------------------------- */

static void remove_worker(struct conform *t, struct worker *gone)
{
	struct worker **link = &t->workers;

	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	close(gone->fd);
	if (gone->control >= 0)
		close(gone->control);
	free(gone->executor);
	free(gone);
}

void leave(struct conform *t, struct worker *p)
{
	send_order(p, p->fd, QUIT, 0);
	if (p->way == OTHER_PROCESS) {
		int rc;

		send_order(p, p->control, QUIT, 0);
		rc = process_wait(p->pid, patience_ms());
		if (rc != 0)
			FAIL("worker %d (process) ended with %d", p->number,
			     rc);
	} else {
		pthread_join(p->thread, NULL);
		close(p->executor->fd);
		if (p->way == OTHER_CLIENT)
			close_client(t, p->client);
	}
	remove_worker(t, p);
}

void bury(struct conform *t, struct worker *p)
{
	process_kill(p->pid);
	remove_worker(t, p);
}

void leave_all(struct conform *t)
{
	while (t->workers)
		leave(t, t->workers);
}

/* ---- A worker's process -------------------------------------------------- */

enum { ORDERS = 3, CONTROL = 4 };

/* Two executors: while the first waits for the lock, the second replies. */
int worker_main(char *argv[])
{
	struct conform t = { .uri = getenv("CONFORM_URI"),
			     .kind = (enum kind)atoi(argv[2]),
			     .permits = (uint32_t)strtoul(argv[3], NULL, 10) };
	dlock_options opts = DLOCK_OPTIONS_INIT;
	struct executor orders, control;
	atomic_int losses = 0;
	pthread_t thread;
	char label[32];

	snprintf(t.name, sizeof(t.name), "%s", argv[5]);
	snprintf(label, sizeof(label), "worker %s", argv[4]);
	opts.label = label;
	opts.on_event = executor_on_event;
	opts.arg = &losses;
	t.client = another_client(&t, NULL, &opts);
	t.lock = handle(&t, t.client);
	orders = (struct executor){ .fd = ORDERS,
				    .number = atoi(argv[4]),
				    .client = t.client,
				    .lock = t.lock,
				    .dir = getenv("CONFORM_DIR"),
				    .losses = &losses };
	control = orders;
	control.fd = CONTROL;
	if (pthread_create(&thread, NULL, executor_run, &orders) != 0)
		FAIL("cannot start a thread");
	executor_run(&control);
	pthread_join(thread, NULL);
	dlock_lock_free(t.lock);
	if (orders.client)
		close_face(orders.client);
	return 0;
}
