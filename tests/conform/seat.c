/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/seat.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void seat_on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg)
{
	(void)hold;
	(void)why;
	if (event == DLOCK_LOST)
		atomic_fetch_add((atomic_int *)arg, 1);
}

static dlock_hold *latest(const struct seat *s)
{
	if (s->n_holds == 0)
		FAIL("the party holds nothing");
	return s->holds[s->n_holds - 1];
}

static int acquire(struct seat *s, int shared, int64_t timeout_ms)
{
	dlock_hold *h = NULL;
	int rc;

	if (shared)
		rc = dlock_acquire_shared(s->lock, timeout_ms, &h);
	else
		rc = dlock_acquire(s->lock, timeout_ms, &h);
	if (rc == DLOCK_OK) {
		CHECK_INT(s->n_holds, <, MOST_HOLDS);
		s->holds[s->n_holds++] = h;
	}
	return rc;
}

static int release(struct seat *s)
{
	dlock_hold *h = latest(s);

	s->n_holds--;
	return dlock_release(h);
}

static int work(struct seat *s, enum arena_mode mode, int shared, int64_t ms,
		int64_t *rounds)
{
	int64_t end = now_ms() + ms;

	if (!s->arena)
		s->arena = arena_map(s->dir);
	do {
		int rc = acquire(s, shared, patience_ms());

		if (rc != DLOCK_OK)
			return rc;
		arena_enter(s->arena, s->number, mode, dlock_token(latest(s)));
		arena_leave(s->arena, s->number);
		rc = release(s);
		if (rc != DLOCK_OK)
			return rc;
		++*rounds;
	} while (now_ms() < end);
	return DLOCK_OK;
}

static int readable(dlock_hold *hold)
{
	struct pollfd p = { .fd = dlock_hold_fd(hold), .events = POLLIN };

	CHECK_INT(p.fd, >=, 0);
	return poll(&p, 1, 0) == 1;
}

/* The runner ends it with the case. */
static void fork_child(void)
{
	pid_t pid = fork();

	if (pid != 0) {
		CHECK_INT(pid, >, 0);
		return;
	}
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	for (;;)
		pause();
}

static struct reply obey(struct seat *s, struct order o)
{
	struct reply r = { .rc = DLOCK_OK };
	int64_t begun = now_ms();

	switch (o.op) {
	case ACQUIRE:
	case READ:
		r.rc = acquire(s, o.op == READ, o.arg);
		r.token = r.rc == DLOCK_OK ? dlock_token(latest(s)) : 0;
		break;
	case RELEASE:
		r.rc = release(s);
		break;
	case CHECK_HOLD:
		r.rc = dlock_check(latest(s));
		break;
	case REMAINING:
		r.count = dlock_remaining_ms(latest(s));
		break;
	case WORK:
		r.rc = work(s, WRITING, 0, o.arg, &r.count);
		break;
	case READ_WORK:
		r.rc = work(s, READING, 1, o.arg, &r.count);
		break;
	case PERMIT_WORK:
		r.rc = work(s, READING, 0, o.arg, &r.count);
		break;
	case LOSSES:
		r.count = s->losses ? atomic_load(s->losses) : 0;
		break;
	case READABLE:
		r.count = readable(latest(s));
		break;
	case WAITERS:
		r.count = (int64_t)stats_of(s->client).waiters;
		break;
	case CANCEL:
		dlock_cancel(s->lock);
		break;
	case FORK:
		fork_child();
		break;
	case CLOSE:
		dlock_close(s->client);
		s->client = NULL;
		break;
	case QUIT:
		break;
	}
	r.took_ms = now_ms() - begun;
	return r;
}

static void go_home(struct seat *s)
{
	while (s->n_holds > 0)
		(void)release(s);
	if (s->arena)
		arena_unmap(s->arena);
}

void *seat_run(void *arg)
{
	struct seat *s = arg;
	struct order o;

	for (;;) {
		ssize_t n = recv(s->fd, &o, sizeof(o), 0);
		struct reply r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(o) || o.op == QUIT)
			break;
		r = obey(s, o);
		if (send(s->fd, &r, sizeof(r), MSG_NOSIGNAL) < 0)
			break;
	}
	go_home(s);
	return NULL;
}
