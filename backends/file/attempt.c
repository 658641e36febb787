/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock the bytes that a ticket needs, or wait until they are free.
 */
#include "backends/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#include "backends/file/beside.h"
#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/gate.h"
#include "backends/file/name.h"
#include "backends/file/notify.h"
#include "backends/file/permits.h"
#include "backends/file/release.h"
#include "backends/file/slot.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "backends/file/token.h"
#include "core/base/error.h"

#define SEAL_TRIES 200
#define SPIN_NS (40 * DLK_MS)
#define SAFETY_NS (1000 * DLK_MS) /* a poll in case a notification is lost */
#define POLL_NS (50 * DLK_MS)     /* without inotify */
#define RETRY_NS DLK_MS           /* another client is between two calls */
#define DOUBLINGS 7               /* of the pause between retries */
#define RECENT_POLLS 6            /* after a notification */
#define REPLACED_TRIES 100

enum file_outcome {
	FILE_GRANTED,
	FILE_BUSY,
	FILE_RETRY,    /* no notification may come: try again soon */
	FILE_REPLACED, /* the path leads elsewhere, or nowhere */
	FILE_FAILED
};

static enum file_outcome lock_failed(struct file_ticket *t,
				     struct dlk_error *err)
{
	dlki_file_fail(err, errno, "lock", t->name->file);
	return FILE_FAILED;
}

static enum file_outcome draw_token(struct file_ticket *t, int fd,
				    struct dlk_error *err)
{
	int rc = dlki_file_draw(t, fd, err);

	if (rc < 0)
		return FILE_FAILED;
	return rc ? FILE_GRANTED : FILE_REPLACED;
}

static enum file_outcome try_exclusive(struct file_ticket *t, int fd,
				       struct dlk_error *err)
{
	int rc = dlki_file_lock(fd, F_WRLCK, FILE_MAIN);

	if (rc < 0)
		return lock_failed(t, err);
	return rc ? draw_token(t, fd, err) : FILE_BUSY;
}

/* Return when a spin that begins now is to end. */
static dlk_time spin_end(const struct file_ticket *t)
{
	dlk_time end = dlk_now() + SPIN_NS;

	return end < t->deadline ? end : t->deadline;
}

/*
 * Lock the seal, which others hold for a few system calls: spin, but not for
 * long, as the process with the seal may be stopped.  The first attempt spins
 * longer, in case a busy machine has only preempted the process: a caller with
 * timeout 0 would be told that others have the lock, and the seal does not
 * prove that.
 */
static int lock_seal(const struct file_ticket *t, int fd)
{
	dlk_time end = 0;
	int i, rc;

	for (i = 0;; i++) {
		rc = dlki_file_lock(fd, F_WRLCK, FILE_SEAL);
		if (rc)
			return rc;
		if (i >= SEAL_TRIES) {
			if (t->retries)
				return 0;
			if (!end)
				end = spin_end(t);
			if (dlk_now() >= end)
				return 0;
		}
		sched_yield();
	}
}

static enum file_outcome try_sealed(struct file_ticket *t, int fd,
				    struct dlk_error *err)
{
	const struct dlk_request *c = &t->base.request;
	enum file_outcome outcome;
	int rc;

	if (c->kind == DLK_SEMAPHORE) {
		rc = dlki_file_find_limit(t, fd, err);
		if (rc <= 0)
			return rc ? FILE_FAILED : FILE_BUSY;
	}
	if (dlki_file_gate_is_shut(t, fd))
		return FILE_BUSY;
	if (c->kind == DLK_LOCK) {
		rc = dlki_file_lock(fd, F_RDLCK, FILE_MAIN);
		if (rc <= 0)
			return rc ? lock_failed(t, err) : FILE_BUSY;
	}
	rc = c->permits > 1 ? dlki_file_permits_lock(t, fd) :
			      dlki_file_slot_lock(t, fd, t->limit);
	if (rc < 0)
		return lock_failed(t, err);
	if (!rc && t->limit)
		return c->permits > 1 || dlki_file_slot_tries_all(t->limit) ?
			       FILE_BUSY :
			       FILE_RETRY;
	outcome = draw_token(t, fd, err);
	if (outcome == FILE_GRANTED && rc)
		dlki_file_slot_record(t, fd);
	return outcome;
}

static enum file_outcome try_shared(struct file_ticket *t, int fd,
				    struct dlk_error *err)
{
	enum file_outcome outcome;
	int rc = lock_seal(t, fd);

	if (rc < 0)
		return lock_failed(t, err);
	if (!rc) {
		t->retries += !t->retries; /* the next is not the first */
		return FILE_RETRY;
	}
	outcome = try_sealed(t, fd, err);
	if (outcome == FILE_GRANTED && t->owns == FILE_OWNS_GATE)
		dlki_file_permits_leave_line(t);
	if (outcome == FILE_GRANTED || t->owns == FILE_OWNS_GATE)
		dlki_file_unlock(fd, FILE_SEAL);
	return outcome;
}

/* Try to lock the bytes, and unlock those not needed.  With n->mu held. */
static enum file_outcome try_lock(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	struct file_ticket *reader = dlki_file_beside_find(t);
	enum file_outcome outcome;
	int fd = t->fd, rc;

	if (t->owns == FILE_OWNS_NOTHING) {
		rc = dlki_file_fd_get(n, &fd, err);
		if (rc <= 0)
			return rc < 0 ? FILE_FAILED : FILE_REPLACED;
	}
	if (t->base.request.mode == DLK_EXCLUSIVE)
		outcome = try_exclusive(t, reader ? reader->fd : fd, err);
	else
		outcome = try_shared(t, fd, err);
	if (reader && (outcome == FILE_FAILED || outcome == FILE_REPLACED))
		dlki_file_beside_share(t, reader);
	if (outcome == FILE_GRANTED && reader) {
		dlki_file_beside_begin(t, reader, fd);
	} else if (outcome == FILE_GRANTED) {
		if (t->owns == FILE_OWNS_NOTHING)
			n->held++;
		t->owns = FILE_OWNS_LOCK;
		t->fd = fd;
	} else if (t->owns == FILE_OWNS_NOTHING) {
		/* A writer that found the lock busy has locked nothing. */
		if (outcome != FILE_BUSY ||
		    t->base.request.mode != DLK_EXCLUSIVE)
			dlki_file_unlock_all(fd);
		dlki_file_fd_put(n, fd);
		/* A waiter may have met the bytes locked for a moment. */
		if ((outcome == FILE_FAILED || outcome == FILE_REPLACED) &&
		    dlki_file_released(n))
			t->notify = 1;
	}
	return outcome;
}

static void start_waiting(struct file_ticket *t)
{
	if (t->waits)
		return;
	t->waits = 1;
	TAILQ_INSERT_TAIL(dlki_file_waiting(t), t, in_list);
	if (!t->waiter_slot)
		dlki_file_waiter_slot_lock(t);
}

/*
 * Outlast the removal of an idle file.  The client that removes the file locks
 * all of it for a moment, which is no reason to say that others have the lock.
 * Spin as for the seal.
 */
static enum file_outcome outlast_removal(struct file_ticket *t,
					 struct dlk_error *err)
{
	struct file_name *n = t->name;
	enum file_outcome outcome = FILE_BUSY;
	dlk_time end = spin_end(t);

	while (outcome == FILE_BUSY && t->owns == FILE_OWNS_NOTHING &&
	       n->n_fds && dlki_file_all_locked(n->fds[n->n_fds - 1])) {
		if (dlk_now() >= end)
			return FILE_RETRY;
		sched_yield();
		outcome = try_lock(t, err);
	}
	return outcome;
}

/* Listen, announce the waiter, and try once more: see notify.h.  While this
 * session has the writer, no other session can have the lock, and the writer's
 * release wakes the waiter directly. */
static enum file_outcome announce_and_try(struct file_ticket *t,
					  int *unnotified,
					  struct dlk_error *err)
{
	struct file_name *n = t->name;
	enum file_outcome outcome;

	start_waiting(t);
	t->behind_writer = dlki_file_name_excludes(n);
	if (t->behind_writer)
		return FILE_BUSY;
	*unnotified = dlki_file_announce(n) < 0;
	if (n->stale)
		return FILE_REPLACED;
	outcome = try_lock(t, err);
	if (outcome == FILE_BUSY)
		outcome = outlast_removal(t, err);
	if (outcome == FILE_BUSY && (t->base.request.mode == DLK_EXCLUSIVE ||
				     t->base.request.permits > 1))
		dlki_file_gate_shut(t);
	return outcome;
}

/* Has the holder surely changed since the ticket was last busy?  The state
 * names the last holder only, so readers do not count. */
static int holder_changed(struct file_ticket *t, int fd)
{
	struct file_state st;
	uint64_t before = t->seen;

	if (!dlki_file_load_state(fd, &st))
		return 0;
	t->seen = st.seq;
	return t->behind_writer && st.seq != before;
}

static dlk_time next_attempt(struct file_ticket *t, enum file_outcome outcome,
			     int unnotified)
{
	struct file_name *n = t->name;
	dlk_time now = dlk_now();
	int fd = t->owns == FILE_OWNS_NOTHING && n->n_fds ? n->fds[0] : t->fd;
	dlk_time pause = RETRY_NS << t->retries;

	if (outcome == FILE_RETRY) {
		t->retries += t->retries < DOUBLINGS;
		return now + (unnotified && pause > POLL_NS ? POLL_NS : pause);
	}
	if (unnotified || t->idle_gate)
		return now + POLL_NS;
	if (t->owns == FILE_OWNS_NOTHING && !n->n_fds)
		return now + SAFETY_NS;
	if (holder_changed(t, fd) || now >= n->notify.recent_until ||
	    t->polls == RECENT_POLLS) {
		t->polls = 0;
		return now + SAFETY_NS;
	}
	return now + (RETRY_NS << t->polls++);
}

static enum file_outcome try_name(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	enum file_outcome o = FILE_REPLACED;
	int unnotified = 0, fd = -1;

	pthread_mutex_lock(&n->mu);
	if (!n->stale)
		o = try_lock(t, err);
	if (o == FILE_BUSY || o == FILE_RETRY)
		o = announce_and_try(t, &unnotified, err);
	/* The holder of a removed file is no reason to wait. */
	if ((o == FILE_BUSY || o == FILE_RETRY) &&
	    dlki_file_name_stands(n) == 0)
		o = FILE_REPLACED;
	if (o == FILE_GRANTED) {
		dlki_file_stop_waiting(t);
		TAILQ_INSERT_HEAD(&n->holding, t, in_list);
		/* At the grant this session did not listen for
		 * announcements. */
		if (!(n->notify.listens_for & FILE_ANNOUNCEMENT))
			n->notify.contended = 1;
	} else if (o == FILE_REPLACED) {
		dlki_file_name_stale(n);
	} else if (o == FILE_FAILED) {
		fd = dlki_file_give_up(t);
	} else {
		t->base.look_again = next_attempt(t, o, unnotified);
	}
	pthread_mutex_unlock(&n->mu);
	dlki_file_after_unlock(t, fd);
	if (o == FILE_GRANTED && t->waiter_slot && !dlki_file_slot_tells(t))
		dlki_file_waiter_slot_unlock(t);
	return o;
}

enum dlk_verdict dlki_file_attempt(struct dlk_ticket *base, dlk_time deadline,
				   struct dlk_error *err)
{
	struct file_session *s = file_session(base->session);
	struct file_ticket *t = file_ticket(base);
	int i;

	t->deadline = deadline;
	if (t->owns == FILE_OWNS_LOCK)
		return DLK_GRANTED;
	for (i = 0; i < REPLACED_TRIES; i++) {
		if (!t->name)
			t->name = dlki_file_name_get(s, base->request.key);
		if (!t->name) {
			dlki_nomem(err);
			return DLK_FAILED;
		}
		switch (try_name(t, err)) {
		case FILE_GRANTED:
			return DLK_GRANTED;
		case FILE_FAILED:
			return DLK_FAILED;
		case FILE_BUSY:
		case FILE_RETRY:
			return DLK_BUSY;
		case FILE_REPLACED:
			dlki_file_leave_name(t);
			if (dlki_file_dir_follow(s, err) < 0)
				return DLK_FAILED;
		}
	}
	base->look_again = dlk_now() + RETRY_NS;
	return DLK_BUSY;
}
