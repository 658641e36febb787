/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fencing tokens: max(the last one in the file + 1, microseconds of the wall
 * clock), written before an acquire returns.
 *
 * A session that takes the same mutex again and again draws several at once: it
 * writes the last of them and hands them out from memory, as long as nobody
 * else has written.  The number grows only in a tight loop, so that the token
 * in the file is exact wherever somebody has the time to read it.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BATCH_MAX 4096
#define STREAK 32   /* quick draws in a row before batches grow */
#define FEW 1       /* draws of a client that needs no quiet.c yet */
#define QUICK_US 50 /* a draw is quick if its tokens lasted no longer */
#define LAST_TOKEN (UINT64_C(1) << 62)

/* How many tokens to draw. */
static uint64_t batch(struct file_ticket *t, const struct file_state *st,
		      uint64_t now_us)
{
	struct file_name *n = t->name;
	const struct dlk_claim *c = &t->base.claim;
	uint64_t size = n->batch ? n->batch : 1;

	if (st->session != n->session->id || now_us < n->drawn_us ||
	    now_us - n->drawn_us > QUICK_US * size || c->kind != DLK_MUTEX ||
	    c->label != n->session->base.label) {
		n->streak = 0;
		n->batch = 1;
	} else if (++n->streak > STREAK && n->batch < BATCH_MAX) {
		n->batch *= 2;
	}
	n->drawn_us = now_us;
	return n->batch;
}

static int synced(struct file_session *s, int fd, int fresh)
{
	if (!s->sync)
		return 0;
	if (fdatasync(fd) < 0 || (fresh && fsync(s->dirfd) < 0))
		return -1;
	return 0;
}

int dlki_file_limit(struct file_ticket *t, int fd, struct dlk_error *err)
{
	const struct dlk_claim *c = &t->base.claim;
	struct file_header h;
	struct file_state st;

	if (dlki_file_load(fd, c->kind, c->name, &h, &st) < 0)
		return dlki_file_fail(err, errno, "read lock file",
				      t->name->file);
	if (!st.limit || st.limit == c->limit ||
	    dlki_file_probe(fd, F_WRLCK, FILE_SEAT0, FILE_SEAT_BYTES) ==
		    F_UNLCK)
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"semaphore '%.100s' has %llu permits, not %u", c->name,
			(unsigned long long)st.limit, c->limit);
}

static int write_state(struct file_ticket *t, int fd, struct file_state *st,
		       enum file_found found, struct dlk_error *err)
{
	const struct dlk_claim *c = &t->base.claim;
	struct file_name *n = t->name;
	uint64_t now_us = dlki_file_time();
	int rc;

	if (st->last >= LAST_TOKEN)
		return dlk_fail(err, DLOCK_EEXHAUSTED,
				"lock file '%s' has no "
				"tokens left: remove it",
				n->file);
	st->first = st->last + 1 > now_us ? st->last + 1 : now_us;
	st->last = st->first + batch(t, st, now_us) - 1;
	st->session = n->session->id;
	st->ticket = t->base.id;
	st->limit = c->kind == DLK_SEMAPHORE ? c->limit : 0;
	dlki_file_label(st->label, c->label);
	if (found == FILE_GOOD)
		rc = dlki_file_store(fd, st);
	else
		rc = dlki_file_format(fd, c->kind, c->name, st);
	if (rc < 0 || synced(n->session, fd, found == FILE_FRESH) < 0) {
		n->last = 0;
		return dlki_file_fail(err, errno, "write lock file", n->file);
	}
	n->known = 1;
	n->seq = st->seq;
	n->next = st->first;
	n->last = st->last;
	return 0;
}

static int load(struct file_ticket *t, int fd, struct file_state *st,
		struct dlk_error *err)
{
	const struct dlk_claim *c = &t->base.claim;
	struct file_name *n = t->name;
	struct file_header h;
	int found;

	if (n->known && dlki_file_load_state(fd, st))
		return FILE_GOOD;
	n->known = 0;
	found = dlki_file_load(fd, c->kind, c->name, &h, st);
	if (found < 0)
		return dlki_file_fail(err, errno, "read lock file", n->file);
	if (found == FILE_FOREIGN)
		return dlk_fail(err, DLOCK_EPROTO,
				"'%s' is not a lock file, "
				"or one of another version of dlock: remove it "
				"or use another directory",
				n->file);
	if (found == FILE_OTHER)
		return dlk_fail(err, DLOCK_EPROTO,
				"lock file '%s' belongs to "
				"a lock called '%.100s'",
				n->file, h.name);
	if (found == FILE_DAMAGED)
		t->damaged = st->seq ? "the part that is left" : "the clock";
	return found;
}

static int ours(const struct file_ticket *t)
{
	const struct file_name *n = t->name;

	/* Who was waiting writes, so that inspect() knows the ticket. */
	return t->base.claim.kind == DLK_MUTEX && !t->bench &&
	       t->base.claim.label == n->session->base.label && n->next &&
	       n->next <= n->last;
}

/* Look at the state: is it the one that we wrote?  Else write. */
static int look(struct file_ticket *t, int fd, struct dlk_error *err)
{
	struct file_name *n = t->name;
	struct file_state st;
	int found;

	found = load(t, fd, &st, err);
	if (found < 0)
		return found;
	if (ours(t) && found == FILE_GOOD && st.session == n->session->id &&
	    st.seq == n->seq)
		return 0;
	return write_state(t, fd, &st, (enum file_found)found, err);
}

/* Is the file still at its path?  As dlki_file_draw(). */
static int look_at_path(struct file_ticket *t, uint64_t changes,
			struct dlk_error *err)
{
	struct file_name *n = t->name;
	int rc;

	if (dlki_file_quiet(n))
		return 1;
	rc = dlki_file_name_stands(n);
	if (rc < 0)
		return dlki_file_fail(err, errno, "find lock file", n->path);
	n->looked = changes;
	return rc;
}

static void listen(struct file_name *n)
{
	struct file_session *s = n->session;

	if (n->streak > STREAK && n->unrung)
		dlki_file_quiet_begin(n, FILE_WRITTEN);
	else if (atomic_load(&s->draws) < FEW)
		atomic_fetch_add(&s->draws, 1);
	else if (!n->streak || n->quiet_wd < 0)
		dlki_file_quiet_begin(n, 0);
}

int dlki_file_draw(struct file_ticket *t, int fd, struct dlk_error *err)
{
	struct file_name *n = t->name;
	uint64_t changes;
	int rc;

	if (!ours(t) || n->quiet_what != FILE_WRITTEN || !dlki_file_quiet(n)) {
		listen(n);
		changes = atomic_load(&n->session->changes);
		rc = look(t, fd, err);
		if (rc < 0)
			return rc;
		/* Last: whoever replaces the file reads the old one's state
		 * when the new one is in place, and nothing granted later than
		 * that counts. */
		rc = look_at_path(t, changes, err);
		if (rc <= 0)
			return rc;
	}
	t->base.token = n->next++;
	return 1;
}

void dlki_file_publish(struct file_ticket *t)
{
	struct file_name *n = t->name;
	struct file_header h;
	struct file_state st;

	if (t->base.claim.kind != DLK_MUTEX || n->stale || n->last == 0 ||
	    dlki_file_load(t->fd, DLK_MUTEX, t->base.claim.name, &h, &st) !=
		    FILE_GOOD ||
	    st.session != n->session->id || st.first == st.last)
		return;
	st.first = st.last = t->base.token;
	n->last = 0;
	(void)dlki_file_store(t->fd, &st);
}
