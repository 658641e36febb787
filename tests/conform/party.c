/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/party.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conform/seat.h"
#include "support/process.h"

/* ---- Talking ------------------------------------------------------------- */

static const char *whose(const struct party *p)
{
	static const char *const ways[] = { "thread", "thread with a handle",
					    "client", "process" };

	return ways[p->way];
}

static void put(struct party *p, int fd, enum op op, int64_t arg)
{
	struct order o = { op, arg };

	if (send(fd, &o, sizeof(o), MSG_NOSIGNAL) < 0)
		FAIL("party %d (%s) is gone", p->number, whose(p));
}

static struct reply get(struct party *p, int fd)
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
		FAIL("party %d (%s) does not answer", p->number, whose(p));
	n = recv(fd, &r, sizeof(r), 0);
	if (n != (ssize_t)sizeof(r))
		FAIL("party %d (%s) has ended", p->number, whose(p));
	return r;
}

void tell(struct party *p, enum op op, int64_t arg)
{
	put(p, p->fd, op, arg);
}

struct reply hear(struct party *p)
{
	return get(p, p->fd);
}

struct reply ask(struct party *p, enum op op, int64_t arg)
{
	tell(p, op, arg);
	return hear(p);
}

struct reply ask_beside(struct party *p, enum op op, int64_t arg)
{
	CHECK_INT(p->control, >=, 0);
	put(p, p->control, op, arg);
	return get(p, p->control);
}

int quiet(struct party *p)
{
	struct pollfd ready = { .fd = p->fd, .events = POLLIN };

	return poll(&ready, 1, 0) == 0;
}

/* ---- Coming -------------------------------------------------------------- */

static void pair(int fd[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		FAIL("socketpair: %s", strerror(errno));
}

static void join_thread(struct conform *t, struct party *p, const char *params)
{
	struct seat *s = calloc(1, sizeof(*s));
	dlock_options opts = DLOCK_OPTIONS_INIT;
	char label[32];
	int fd[2];

	if (!s)
		FAIL("out of memory");
	snprintf(label, sizeof(label), "party %d", p->number);
	opts.label = label;
	pair(fd);
	p->fd = fd[0];
	p->client = t->client;
	if (p->way == OTHER_CLIENT)
		p->client = another_client(t, params, &opts);
	*s = (struct seat){ .fd = fd[1],
			    .number = p->number,
			    .dir = t->dir,
			    .client = p->client,
			    .lock = t->lock };
	if (p->way != SAME_HANDLE)
		s->lock = handle(t, p->client);
	p->seat = s;
	if (pthread_create(&p->thread, NULL, seat_run, s) != 0)
		FAIL("cannot start a thread");
}

static void join_process(struct conform *t, struct party *p, const char *params)
{
	char kind[16], permits[16], number[16];
	char *argv[] = { "conform", "--party", kind, permits,
			 number,    t->name,   NULL };
	struct process_files files = { .out = -1 };
	char *uri = uri_with(t->uri, params ? params : "");
	int fd[2], control[2];

	snprintf(kind, sizeof(kind), "%d", (int)t->kind);
	snprintf(permits, sizeof(permits), "%u", (unsigned int)t->permits);
	snprintf(number, sizeof(number), "%d", p->number);
	setenv("CONFORM_URI", uri, 1);
	free(uri);
	pair(fd);
	pair(control);
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

struct party *join_with(struct conform *t, enum way way, const char *params)
{
	struct party *p;

	if (way == OTHER_PROCESS && t->local)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		FAIL("out of memory");
	p->way = way;
	p->number = 1 + t->n_parties++ % (ARENA_SEATS - 1);
	p->control = -1;
	if (way == OTHER_PROCESS)
		join_process(t, p, params);
	else
		join_thread(t, p, params);
	p->next = t->parties;
	t->parties = p;
	return p;
}

struct party *join(struct conform *t, enum way way)
{
	return join_with(t, way, NULL);
}

/* ---- Going --------------------------------------------------------------- */

static void forget(struct conform *t, struct party *gone)
{
	struct party **link = &t->parties;

	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	close(gone->fd);
	if (gone->control >= 0)
		close(gone->control);
	free(gone->seat);
	free(gone);
}

void leave(struct conform *t, struct party *p)
{
	put(p, p->fd, QUIT, 0);
	if (p->way == OTHER_PROCESS) {
		int rc;

		put(p, p->control, QUIT, 0);
		rc = process_wait(p->pid, patience_ms());
		if (rc != 0)
			FAIL("party %d (process) ended with %d", p->number, rc);
	} else {
		pthread_join(p->thread, NULL);
		close(p->seat->fd);
		if (p->way == OTHER_CLIENT)
			close_client(t, p->client);
	}
	forget(t, p);
}

void bury(struct conform *t, struct party *p)
{
	process_kill(p->pid);
	forget(t, p);
}

void leave_all(struct conform *t)
{
	while (t->parties)
		leave(t, t->parties);
}

/* ---- The process of a party ---------------------------------------------- */

enum { ORDERS = 3, CONTROL = 4 };

/* Two seats: one waits for the lock, one can be asked meanwhile. */
int party_main(char *argv[])
{
	struct conform t = { .uri = getenv("CONFORM_URI"),
			     .kind = (enum kind)atoi(argv[2]),
			     .permits = (uint32_t)strtoul(argv[3], NULL, 10) };
	dlock_options opts = DLOCK_OPTIONS_INIT;
	struct seat seat, control;
	atomic_int losses = 0;
	pthread_t thread;
	char label[32];

	snprintf(t.name, sizeof(t.name), "%s", argv[5]);
	snprintf(label, sizeof(label), "party %s", argv[4]);
	opts.label = label;
	opts.on_event = seat_on_event;
	opts.arg = &losses;
	t.client = another_client(&t, NULL, &opts);
	t.lock = handle(&t, t.client);
	seat = (struct seat){ .fd = ORDERS,
			      .number = atoi(argv[4]),
			      .client = t.client,
			      .lock = t.lock,
			      .dir = getenv("CONFORM_DIR"),
			      .losses = &losses };
	control = seat;
	control.fd = CONTROL;
	if (pthread_create(&thread, NULL, seat_run, &seat) != 0)
		FAIL("cannot start a thread");
	seat_run(&control);
	pthread_join(thread, NULL);
	dlock_free(t.lock);
	if (seat.client)
		dlock_close(seat.client);
	return 0;
}
