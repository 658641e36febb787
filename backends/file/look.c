/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One try to lock the bytes that a ticket needs.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#define GATE_NS INT64_C(1000000000) /* a keeper that lets this pass is stuck */
#define SEAL_TRIES 200
#define SEAL_NS INT64_C(40000000)
#define SEAT_TRIES 256
#define READER_TRIES 8 /* a reader can do without a seat */

static enum file_look failed(struct file_ticket *t, struct dlk_error *err)
{
	dlki_file_fail(err, errno, "lock", t->name->file);
	return FILE_FAILED;
}

static enum file_look drawn(int rc)
{
	if (rc < 0)
		return FILE_FAILED;
	return rc ? FILE_MINE : FILE_STALE;
}

/* The first writer that waits keeps the gate shut for readers to come. */
static void keep_gate(struct file_ticket *t, int fd)
{
	if (dlki_file_lock(fd, F_WRLCK, FILE_GATE) != 1)
		return;
	t->stake = FILE_KEEPER;
	t->fd = fd;
	t->name->held++;
}

static enum file_look look_exclusive(struct file_ticket *t, int fd,
				     struct dlk_error *err)
{
	int rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);

	if (rc < 0)
		return failed(t, err);
	if (rc)
		return drawn(dlki_file_draw(t, fd, err));
	if (t->base.claim.kind == DLK_RWLOCK && t->stake == FILE_NONE)
		keep_gate(t, fd);
	return FILE_BUSY;
}

/*
 * The seal is held for a few system calls, so that waiting for it is spinning;
 * but not for long, as its holder may be stopped.  The first look gives it the
 * time to come back from where a busy machine has put it: who does not wait is
 * told by that look that others have the lock, which the seal does not prove.
 */
static int seal(const struct file_ticket *t, int fd)
{
	dlk_time end = 0, now;
	int i, rc;

	for (i = 0;; i++) {
		rc = dlki_file_lock(fd, F_WRLCK, FILE_SEAL);
		if (rc)
			return rc;
		if (i >= SEAL_TRIES) {
			if (t->soons)
				return 0;
			now = dlk_now();
			if (!end)
				end = now + SEAL_NS < t->deadline ?
					      now + SEAL_NS :
					      t->deadline;
			if (now >= end)
				return 0;
		}
		sched_yield();
	}
}

static int try_seat(struct file_ticket *t, int fd, uint32_t seat)
{
	int rc = dlki_file_lock(fd, F_WRLCK, FILE_SEAT0 + seat);

	if (rc)
		t->seat = t->name->seat = seat;
	return rc;
}

/* One of the first `seats`, tried in a row from a random one. */
static int try_run(struct file_ticket *t, int fd, uint32_t seats,
		   uint32_t tries)
{
	uint32_t seat = (uint32_t)dlk_now() * 2654435761u % seats;
	int rc = 0;

	for (; tries && !rc; tries--) {
		rc = try_seat(t, fd, seat);
		seat = seat + 1 < seats ? seat + 1 : 0;
	}
	return rc;
}

/*
 * A seat that is free, from the one that is most likely to be.  Every seat is
 * tried if there are up to SEAT_TRIES.  Of more, a run from a random one: with
 * few free ones that may miss them, and the next look tries another run.  Those
 * whose holders can be told come first.
 */
static int find_seat(struct file_ticket *t, int fd, uint32_t seats,
		     uint32_t tries)
{
	struct file_name *n = t->name;
	uint32_t hint;
	int rc = 0;

	if (n->seat < seats)
		rc = try_seat(t, fd, n->seat);
	if (!rc && dlki_file_hint(fd, &hint) == 0 && hint < seats)
		rc = try_seat(t, fd, hint);
	if (!rc && seats > FILE_SEATS)
		rc = try_run(t, fd, FILE_SEATS, READER_TRIES);
	if (!rc)
		rc = try_run(t, fd, seats, tries < seats ? tries : seats);
	if (!rc)
		t->seat = FILE_NO_SEAT;
	return rc;
}

/*
 * May a reader go in although a writer waits?  If nobody holds the lock for a
 * second and that writer still does not take it: it is stopped, or stuck.
 * Others may while the one who has found that is in; they do not say so in
 * their turn, or it would be for ever.
 */
static int gate_shut(struct file_ticket *t, int fd)
{
	dlk_time now;

	if (dlki_file_probe(fd, F_RDLCK, FILE_GATE, 1) == F_UNLCK ||
	    dlki_file_probe(fd, F_WRLCK, FILE_PASS, 1) != F_UNLCK)
		return 0;
	now = dlk_now();
	if (dlki_file_probe(fd, F_WRLCK, FILE_MAIN, 1) != F_UNLCK)
		t->idle_gate = 0;
	else if (!t->idle_gate)
		t->idle_gate = now;
	if (!t->idle_gate || now - t->idle_gate < GATE_NS)
		return 1;
	(void)dlki_file_lock(fd, F_RDLCK, FILE_PASS);
	return 0;
}

static void record_seat(struct file_ticket *t, int fd)
{
	struct file_seat rec;

	memset(&rec, 0, sizeof(rec));
	rec.token = t->base.token;
	rec.session = t->name->session->id;
	rec.ticket = t->base.id;
	rec.shared = 1;
	dlki_file_label(rec.label, t->base.claim.label);
	(void)dlki_file_seat_store(fd, t->seat, &rec);
}

static enum file_look look_sealed(struct file_ticket *t, int fd,
				  struct dlk_error *err)
{
	const struct dlk_claim *c = &t->base.claim;
	enum file_look look;
	int rc;

	if (c->kind == DLK_RWLOCK) {
		if (gate_shut(t, fd))
			return FILE_BUSY;
		rc = dlki_file_lock(fd, F_RDLCK, FILE_MAIN);
		if (rc <= 0)
			return rc ? failed(t, err) : FILE_BUSY;
	} else {
		rc = dlki_file_limit(t, fd, err);
		if (rc < 0)
			return FILE_FAILED;
	}
	rc = c->limit ? find_seat(t, fd, c->limit, SEAT_TRIES) :
			find_seat(t, fd, FILE_SEATS, READER_TRIES);
	if (rc < 0)
		return failed(t, err);
	if (!rc && c->limit)
		return c->limit > SEAT_TRIES ? FILE_SOON : FILE_BUSY;
	look = drawn(dlki_file_draw(t, fd, err));
	if (look == FILE_MINE && rc)
		record_seat(t, fd);
	return look;
}

static enum file_look look_shared(struct file_ticket *t, int fd,
				  struct dlk_error *err)
{
	enum file_look look;
	int rc = seal(t, fd);

	if (rc < 0)
		return failed(t, err);
	if (!rc) {
		t->soons += !t->soons; /* the next one is not the first */
		return FILE_SOON;
	}
	look = look_sealed(t, fd, err);
	if (look == FILE_MINE)
		dlki_file_unlock(fd, FILE_SEAL);
	return look;
}

enum file_look dlki_file_look(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	enum file_look look;
	int fd = t->fd, rc;

	if (t->stake == FILE_NONE) {
		rc = dlki_file_fd_get(n, &fd, err);
		if (rc <= 0)
			return rc < 0 ? FILE_FAILED : FILE_STALE;
	}
	if (t->base.claim.mode == DLK_EXCLUSIVE)
		look = look_exclusive(t, fd, err);
	else
		look = look_shared(t, fd, err);
	if (look == FILE_MINE) {
		if (t->stake == FILE_NONE)
			n->held++;
		t->stake = FILE_HOLDER;
		t->fd = fd;
	} else if (t->stake == FILE_NONE) {
		/* Nothing is locked after a mutex was found busy. */
		if (look != FILE_BUSY || t->base.claim.kind != DLK_MUTEX)
			dlki_file_unlock_all(fd);
		dlki_file_fd_put(n, fd);
		/* A waiter may have met what was locked for a moment. */
		if ((look == FILE_FAILED || look == FILE_STALE) &&
		    dlki_file_released(n))
			t->ring = 1;
	}
	return look;
}

int dlki_file_share(struct file_ticket *t)
{
	/* The kernel turns the lock in one step.  No seal, as a writer's lock
	 * keeps everybody else from the seats. */
	if (dlki_file_lock(t->fd, F_RDLCK, FILE_MAIN) != 1)
		return -1;
	t->base.claim.mode = DLK_SHARED;
	if (find_seat(t, t->fd, FILE_SEATS, READER_TRIES) == 1)
		record_seat(t, t->fd);
	dlki_file_unlock(t->fd, FILE_GATE);
	return 0;
}
