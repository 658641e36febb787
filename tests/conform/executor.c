/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/executor.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void executor_on_event(dlock_hold *hold, enum dlock_event event,
		       const char *why, void *arg)
{
	(void)hold;
	(void)why;
	if (event == DLOCK_LOST)
		atomic_fetch_add((atomic_int *)arg, 1);
}

static dlock_hold *latest_hold(const struct executor *e)
{
	if (e->n_holds == 0)
		FAIL("the worker holds nothing");
	return e->holds[e->n_holds - 1];
}

static int keep_hold(struct executor *e, int rc, dlock_hold *h)
{
	if (rc == DLOCK_OK) {
		CHECK_INT(e->n_holds, <, MOST_HOLDS);
		e->holds[e->n_holds++] = h;
	}
	return rc;
}

static int acquire_hold(struct executor *e, int shared, int64_t timeout_ms)
{
	dlock_hold *h = NULL;
	int rc = ask_for(e->lock, shared, timeout_ms, &h);

	return keep_hold(e, rc, h);
}

static int acquire_upgradeable(struct executor *e, int64_t timeout_ms)
{
	dlock_hold *h = NULL;
	int rc;

	if (!e->upgradeable)
		e->upgradeable = upgradeable_of(e->lock);
	rc = ask_for(e->upgradeable, 0, timeout_ms, &h);
	return keep_hold(e, rc, h);
}

static int upgrade_hold(struct executor *e, int64_t timeout_ms)
{
	dlock_hold *h = NULL;
	int rc = ask_to_upgrade(e->upgradeable, latest_hold(e), timeout_ms, &h);

	return keep_hold(e, rc, h);
}

static int release_latest(struct executor *e)
{
	dlock_hold *h = latest_hold(e);

	e->n_holds--;
	return release(h);
}

static void enter_arena(struct executor *e, enum arena_mode mode)
{
	if (!e->arena)
		e->arena = arena_map(e->dir);
	arena_enter(e->arena, e->number, mode, dlock_token(latest_hold(e)));
}

static int work_for(struct executor *e, enum arena_mode mode, int shared,
		    int64_t ms, int64_t *rounds)
{
	int64_t end = now_ms() + ms;

	do {
		int rc = acquire_hold(e, shared, patience_ms());

		if (rc != DLOCK_OK)
			return rc;
		enter_arena(e, mode);
		arena_leave(e->arena, e->number);
		rc = release_latest(e);
		if (rc != DLOCK_OK)
			return rc;
		++*rounds;
	} while (now_ms() < end);
	return DLOCK_OK;
}

static int upgrade_for(struct executor *e, int64_t ms, int64_t *rounds)
{
	int64_t end = now_ms() + ms;
	int rc;

	do {
		rc = acquire_upgradeable(e, patience_ms());
		if (rc != DLOCK_OK)
			return rc;
		enter_arena(e, READING);
		rc = upgrade_hold(e, patience_ms());
		if (rc != DLOCK_OK)
			return rc;
		arena_leave(e->arena, e->number);
		enter_arena(e, WRITING);
		arena_leave(e->arena, e->number);
		rc = release_latest(e);
		if (rc == DLOCK_OK)
			rc = release_latest(e);
		++*rounds;
	} while (rc == DLOCK_OK && now_ms() < end);
	return rc;
}

/* The reader is inside before the write side is released, and has the writer's
 * token. */
static int downgrade_once(struct executor *e, int64_t *rounds)
{
	dlock_hold *writer, *reader;
	int rc = acquire_hold(e, 0, patience_ms());

	if (rc != DLOCK_OK)
		return rc;
	enter_arena(e, WRITING);
	writer = latest_hold(e);
	rc = acquire_hold(e, 1, patience_ms());
	if (rc != DLOCK_OK)
		return rc;
	reader = latest_hold(e);
	e->n_holds--;
	e->holds[e->n_holds - 1] = reader;
	arena_leave(e->arena, e->number);
	arena_enter(e->arena, e->number, READING, 0);
	rc = release(writer);
	arena_leave(e->arena, e->number);
	++*rounds;
	return rc == DLOCK_OK ? release_latest(e) : rc;
}

static int sides_for(struct executor *e, int64_t ms, int64_t *rounds)
{
	int64_t end = now_ms() + ms;
	unsigned int seed = (unsigned int)e->number;
	int rc;

	do {
		switch (rand_r(&seed) % 4) {
		case 0:
			rc = work_for(e, WRITING, 0, 0, rounds);
			break;
		case 1:
			rc = work_for(e, READING, 1, 0, rounds);
			break;
		case 2:
			rc = upgrade_for(e, 0, rounds);
			break;
		default:
			rc = downgrade_once(e, rounds);
		}
	} while (rc == DLOCK_OK && now_ms() < end);
	return rc;
}

static int hold_is_readable(dlock_hold *hold)
{
	struct pollfd p = { .fd = dlock_hold_fd(hold), .events = POLLIN };

	CHECK_INT(p.fd, >=, 0);
	return poll(&p, 1, 0) == 1;
}

/* The runner kills the child after the case. */
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

static struct reply execute_order(struct executor *e, struct order o)
{
	struct reply r = { .rc = DLOCK_OK };
	int64_t begun = now_ms();

	switch (o.op) {
	case ACQUIRE:
	case READ:
		r.rc = acquire_hold(e, o.op == READ, o.arg);
		r.token = r.rc == DLOCK_OK ? dlock_token(latest_hold(e)) : 0;
		break;
	case UPGRADEABLE:
	case UPGRADE:
		r.rc = o.op == UPGRADE ? upgrade_hold(e, o.arg) :
					 acquire_upgradeable(e, o.arg);
		r.token = r.rc == DLOCK_OK ? dlock_token(latest_hold(e)) : 0;
		break;
	case RELEASE:
		r.rc = release_latest(e);
		break;
	case CHECK_HOLD:
		r.rc = dlock_check(latest_hold(e));
		break;
	case REMAINING:
		r.count = dlock_remaining_ms(latest_hold(e));
		break;
	case WORK:
		r.rc = work_for(e, WRITING, 0, o.arg, &r.count);
		break;
	case READ_WORK:
		r.rc = work_for(e, READING, 1, o.arg, &r.count);
		break;
	case UPGRADE_WORK:
		r.rc = upgrade_for(e, o.arg, &r.count);
		break;
	case SIDES_WORK:
		r.rc = sides_for(e, o.arg, &r.count);
		break;
	case PERMIT_WORK:
		r.rc = work_for(e, READING, 0, o.arg, &r.count);
		break;
	case LOSSES:
		r.count = e->losses ? atomic_load(e->losses) : 0;
		break;
	case READABLE:
		r.count = hold_is_readable(latest_hold(e));
		break;
	case WAITERS:
		r.count = (int64_t)stats_of(e->client).waiters;
		break;
	case CANCEL:
		dlock_cancel(e->lock);
		break;
	case FORK:
		fork_child();
		break;
	case CLOSE:
		close_face(e->client);
		e->client = NULL;
		break;
	case QUIT:
		break;
	}
	r.took_ms = now_ms() - begun;
	return r;
}

static void release_all(struct executor *e)
{
	while (e->n_holds > 0)
		(void)release_latest(e);
	if (e->arena)
		arena_unmap(e->arena);
	dlock_lock_free(e->upgradeable);
}

void *executor_run(void *arg)
{
	struct executor *e = arg;
	struct order o;

	for (;;) {
		ssize_t n = recv(e->fd, &o, sizeof(o), 0);
		struct reply r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(o) || o.op == QUIT)
			break;
		r = execute_order(e, o);
		if (send(e->fd, &r, sizeof(r), MSG_NOSIGNAL) < 0)
			break;
	}
	release_all(e);
	return NULL;
}
