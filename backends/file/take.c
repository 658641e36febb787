/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking, waiting, giving back.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#define MS INT64_C(1000000)
#define SAFETY_NS (1000 * MS) /* a look for the case that a ring is lost */
#define POLL_NS (50 * MS)     /* without inotify */
#define SOON_NS MS            /* somebody is between two system calls */
#define RARE 7                /* times that the pause between looks doubles */
#define REPLACED_TRIES 5

/* A byte and a record that say that we wait, for inspect() only. */
static void sit_down(struct file_ticket *t)
{
	struct file_name *n = t->name;
	struct file_seat rec = { .session = n->session->id,
				 .ticket = t->base.id,
				 .shared = t->base.claim.mode == DLK_SHARED };
	uint32_t i;

	for (i = 0; i < FILE_BENCH; i++) {
		if (n->benched >> i & 1)
			continue;
		if (dlki_file_lock(n->pin, F_WRLCK, FILE_BENCH0 + i) == 1)
			break;
	}
	if (i == FILE_BENCH)
		return;
	t->bench = i + 1;
	n->benched |= UINT64_C(1) << i;
	dlki_file_label(rec.label, t->base.claim.label);
	(void)dlki_file_seat_store(n->pin, FILE_SEATS + i, &rec);
}

/* Not before the lock is given up, with nobody waiting for that any more, if a
 * record says that this very request was granted: see told(). */
static void stand_up(struct file_ticket *t)
{
	struct file_name *n = t->name;

	pthread_mutex_lock(&n->mu);
	dlki_file_unlock(n->pin, FILE_BENCH0 + t->bench - 1);
	n->benched &= ~(UINT64_C(1) << (t->bench - 1));
	t->bench = 0;
	pthread_mutex_unlock(&n->mu);
}

/* Does the state, or the record of its seat, say that the ticket holds? */
static int told(const struct file_ticket *t)
{
	return t->base.claim.mode == DLK_EXCLUSIVE || t->seat < FILE_SEATS;
}

static void wait_for(struct file_ticket *t)
{
	if (t->waits)
		return;
	t->waits = 1;
	dlki_file_list_add(&t->name->waiting, t);
	if (!t->bench)
		sit_down(t);
}

static void wait_no_more(struct file_ticket *t)
{
	if (!t->waits)
		return;
	t->waits = 0;
	dlki_file_list_del(&t->name->waiting, t);
}

/* Listen, knock, and look once more: see bell.c.  When the holder is in this
 * session, its release wakes us without any of that. */
static enum file_look look_after_knock(struct file_ticket *t, int *deaf,
				       struct dlk_error *err)
{
	struct file_name *n = t->name;

	wait_for(t);
	if (n->held && t->base.claim.kind == DLK_MUTEX)
		return FILE_BUSY;
	*deaf = dlki_file_knock(n) < 0;
	if (n->stale)
		return FILE_STALE;
	return dlki_file_look(t, err);
}

/* Is it surely somebody else who holds it now than at the last failed look? */
static int changed(struct file_ticket *t, int fd)
{
	struct file_state st;
	uint64_t before = t->seen;

	if (!dlki_file_load_state(fd, &st))
		return 0;
	t->seen = st.seq;
	return t->base.claim.kind == DLK_MUTEX && st.seq != before;
}

static dlk_time when(struct file_ticket *t, enum file_look look, int deaf)
{
	struct file_name *n = t->name;
	dlk_time now = dlk_now();
	int fd = t->stake == FILE_NONE && n->n_fds ? n->fds[0] : t->fd;
	dlk_time pause = SOON_NS << t->soons;

	if (look == FILE_SOON) {
		t->soons += t->soons < RARE;
		return now + (deaf && pause > POLL_NS ? POLL_NS : pause);
	}
	if (deaf || t->idle_gate)
		return now + POLL_NS;
	if (t->stake == FILE_NONE && !n->n_fds)
		return now + SAFETY_NS;
	if (changed(t, fd) || now >= n->settle_until || t->looks == 6) {
		t->looks = 0;
		return now + SAFETY_NS;
	}
	return now + (SOON_NS << t->looks++);
}

/* Drop what the ticket has of its file; with n->mu held.  The descriptor to
 * close without it, or -1. */
static int leave(struct file_ticket *t)
{
	struct file_name *n = t->name;
	int fd = t->fd;

	wait_no_more(t);
	if (t->stake == FILE_NONE)
		return -1;
	if (t->stake == FILE_HOLDER)
		dlki_file_list_del(&n->holding, t);
	if (t->base.claim.kind == DLK_SEMAPHORE && n->contended)
		dlki_file_hint_store(fd, t->seat);
	dlki_file_unlock_all(fd);
	t->stake = FILE_NONE;
	n->held--;
	t->wake = n->waiting.head != NULL;
	if (dlki_file_released(n))
		return fd;
	dlki_file_fd_put(n, fd);
	return -1;
}

/* What was put off until n->mu was unlocked. */
static void tell(struct file_ticket *t, int fd)
{
	dlki_file_fds_close(fd);
	/* Who was rung for goes first where there is but one processor. */
	if (fd >= 0)
		sched_yield();
	if (t->ring)
		dlki_file_ring(t->name);
	if (t->wake || t->ring)
		dlki_file_wake_all(t->name);
	t->ring = t->wake = 0;
	if (t->damaged)
		dlk_log(t->base.session, 1,
			"lock file '%s' was damaged; its tokens go on from %s",
			t->name->file, t->damaged);
	t->damaged = NULL;
	dlki_file_watch_warn(t->name->session);
}

static void forget(struct file_ticket *t)
{
	struct file_name *n = t->name;
	int fd, stale;

	pthread_mutex_lock(&n->mu);
	fd = leave(t);
	stale = n->stale;
	pthread_mutex_unlock(&n->mu);
	tell(t, fd);
	if (t->bench)
		stand_up(t);
	t->name = NULL;
	if (stale)
		dlki_file_name_put(n);
	else
		dlki_file_name_park(n);
}

static enum file_look try_name(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	enum file_look l = FILE_STALE;
	int deaf = 0, fd = -1;

	pthread_mutex_lock(&n->mu);
	if (!n->stale)
		l = dlki_file_look(t, err);
	if (l == FILE_BUSY || l == FILE_SOON)
		l = look_after_knock(t, &deaf, err);
	/* Who holds a file that is gone is no reason to wait. */
	if ((l == FILE_BUSY || l == FILE_SOON) && dlki_file_name_stands(n) == 0)
		l = FILE_STALE;
	if (l == FILE_MINE) {
		wait_no_more(t);
		dlki_file_list_add(&n->holding, t);
		/* Nobody listened for knocks when the lock was taken. */
		if (!(n->hears & FILE_KNOCK))
			n->contended = 1;
	} else if (l == FILE_STALE) {
		dlki_file_name_stale(n);
	} else if (l == FILE_FAILED) {
		fd = leave(t);
	} else {
		t->base.look_again = when(t, l, deaf);
	}
	pthread_mutex_unlock(&n->mu);
	tell(t, fd);
	if (l == FILE_MINE && t->bench && !told(t))
		stand_up(t);
	return l;
}

enum dlk_verdict dlki_file_attempt(struct dlk_ticket *base, dlk_time deadline,
				   struct dlk_error *err)
{
	struct file_session *s = file_session(base->session);
	struct file_ticket *t = file_ticket(base);
	int i;

	t->deadline = deadline;
	if (t->stake == FILE_HOLDER)
		return DLK_GRANTED;
	for (i = 0; i < REPLACED_TRIES; i++) {
		if (!t->name)
			t->name = dlki_file_name_get(s, base->claim.key);
		if (!t->name) {
			dlk_fail(err, DLOCK_ENOMEM, "out of memory");
			return DLK_FAILED;
		}
		switch (try_name(t, err)) {
		case FILE_MINE:
			return DLK_GRANTED;
		case FILE_FAILED:
			return DLK_FAILED;
		case FILE_BUSY:
		case FILE_SOON:
			return DLK_BUSY;
		case FILE_STALE:
			forget(t);
			if (dlki_file_dir_follow(s, err) < 0)
				return DLK_FAILED;
		}
	}
	base->look_again = dlk_now() + SOON_NS;
	return DLK_BUSY;
}

int dlki_file_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct file_ticket *t = file_ticket(base);

	(void)deadline;
	(void)err;
	if (t->name)
		forget(t);
	return 0;
}

int dlki_file_downgrade(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err)
{
	struct file_ticket *t = file_ticket(base);
	struct file_name *n = t->name;
	int rc = 0;

	(void)deadline;
	pthread_mutex_lock(&n->mu);
	if (dlki_file_share(t) < 0)
		rc = dlki_file_fail(err, errno, "downgrade", n->file);
	else
		/* A knock may be on its way; the next release is not now. */
		t->ring = 1;
	pthread_mutex_unlock(&n->mu);
	tell(t, -1);
	if (t->bench && !told(t))
		stand_up(t);
	return rc;
}
