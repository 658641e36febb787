/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/file.h"
#include "backends/file/floor.h"
#include "backends/file/inotify.h"
#include "backends/file/name.h"
#include "backends/file/notify.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "core/base/error.h"

#define BATCH_MAX 4096
#define STREAK 32   /* quick draws in a row before batches grow */
#define QUICK_US 50 /* a draw is quick if its tokens lasted no longer */
#define LAST_TOKEN (UINT64_C(1) << 62)

/* Return how many tokens to draw. */
static uint64_t batch_size(struct file_ticket *t, const struct file_state *st,
			   uint64_t now_us)
{
	struct file_name *n = t->name;
	const struct dlk_request *c = &t->base.request;
	uint64_t size = n->tokens.batch ? n->tokens.batch : 1;

	if (st->session != n->session->id || now_us < n->tokens.drawn_us ||
	    now_us - n->tokens.drawn_us > QUICK_US * size ||
	    c->mode != DLK_EXCLUSIVE || c->label != n->session->base.label) {
		n->tokens.streak = 0;
		n->tokens.batch = 1;
	} else if (++n->tokens.streak > STREAK && n->tokens.batch < BATCH_MAX) {
		n->tokens.batch *= 2;
	}
	n->tokens.drawn_us = now_us;
	return n->tokens.batch;
}

/* Flush the directory, too, before this session's first token from the
 * file: a client without `sync` may have put the file in place. */
static int flush_if_wished(const struct file_name *n, int fd)
{
	const struct file_session *s = n->session;

	if (!s->sync)
		return 0;
	if (fdatasync(fd) < 0 ||
	    (!n->tokens.header_known && fsync(s->dirfd) < 0))
		return -1;
	return 0;
}

static int is_in_use(int fd)
{
	return dlki_file_probe(fd, F_WRLCK, FILE_HOLDERS, FILE_HOLDERS_LEN) !=
	       F_UNLCK;
}

int dlki_file_find_limit(struct file_ticket *t, int fd, struct dlk_error *err)
{
	const struct dlk_request *c = &t->base.request;
	struct file_state st;
	int found = dlki_file_entry_load(fd, t->name->file, c, &st, err);

	if (found < 0)
		return found;
	t->limit = c->limit;
	t->is_set = 0;
	if (!st.limit || (st.limit == c->limit && !st.is_set) || !is_in_use(fd))
		return 1;
	if (!st.is_set)
		return dlki_other_limit(err, c, st.limit);
	t->limit = st.limit;
	t->is_set = 1;
	if (c->permits > st.limit)
		return dlki_other_limit(err, c, st.limit);
	return dlki_file_count(fd, FILE_HOLDERS, FILE_WAITERS) < st.limit;
}

static int write_state(struct file_ticket *t, int fd, struct file_state *st,
		       enum file_found found, struct dlk_error *err)
{
	const struct dlk_request *c = &t->base.request;
	struct file_name *n = t->name;
	uint64_t now_us = dlki_file_time(), floor = 0;
	char floor_name[FILE_FLOOR_NAME_SIZE];
	int rc;

	if (found != FILE_GOOD && dlki_file_table_floor(n->session, &floor) < 0)
		return dlki_file_fail(err, errno, "read the floor of", n->file);
	if (st->last < floor)
		st->last = floor;
	if (st->last >= LAST_TOKEN)
		return dlk_fail(err, DLOCK_EEXHAUSTED,
				"lock file '%.120s' has no "
				"tokens left: remove it",
				st->last == floor ?
					dlki_file_floor_name(n->session,
							     floor_name) :
					n->file);
	st->first = st->last + 1 > now_us ? st->last + 1 : now_us;
	st->last = st->first + batch_size(t, st, now_us) - 1;
	st->session = n->session->id;
	st->ticket = t->base.id;
	st->limit = c->kind == DLK_SEMAPHORE ? t->limit : 0;
	st->is_set = st->limit ? t->is_set : 0;
	dlki_file_label(st->label, c->label);
	/* An event of this write would cost the next draws their memory. */
	dlki_file_hear_writes(n, 0);
	if (found == FILE_GOOD)
		rc = dlki_file_store(fd, st);
	else
		rc = dlki_file_format(fd, c->kind, c->name, st);
	if (rc < 0 || flush_if_wished(n, fd) < 0) {
		n->tokens.last = 0;
		return dlki_file_fail(err, errno, "write lock file", n->file);
	}
	n->tokens.header_known = 1;
	n->tokens.seq = st->seq;
	n->tokens.next = st->first;
	n->tokens.last = st->last;
	return 0;
}

static int load_or_refuse(struct file_ticket *t, int fd, struct file_state *st,
			  struct dlk_error *err)
{
	struct file_name *n = t->name;
	int found;

	if (n->tokens.header_known && dlki_file_load_state(fd, st))
		return FILE_GOOD;
	n->tokens.header_known = 0;
	found = dlki_file_entry_load(fd, n->file, &t->base.request, st, err);
	if (found == FILE_DAMAGED)
		dlk_log(t->base.session, 1,
			"lock file '%s' was damaged; its tokens go on from %s",
			n->file,
			st->seq ? "the part that is left" : "the clock");
	return found;
}

static int may_draw_from_memory(const struct file_ticket *t)
{
	const struct file_name *n = t->name;

	/* A ticket that waited writes, so that inspect() knows it. */
	return t->base.request.mode == DLK_EXCLUSIVE && !t->waiter_slot &&
	       t->base.request.label == n->session->base.label &&
	       n->tokens.next && n->tokens.next <= n->tokens.last;
}

/* Write new tokens, unless the state is as this session wrote it. */
static int refresh_tokens(struct file_ticket *t, int fd, struct dlk_error *err)
{
	struct file_name *n = t->name;
	struct file_state st;
	int found;

	found = load_or_refuse(t, fd, &st, err);
	if (found < 0)
		return found;
	if (may_draw_from_memory(t) && found == FILE_GOOD &&
	    st.session == n->session->id && st.seq == n->tokens.seq)
		return 0;
	return write_state(t, fd, &st, (enum file_found)found, err);
}

/* Is the file still at the path?  Returns as dlki_file_draw(). */
static int check_path(struct file_ticket *t, uint64_t count,
		      struct dlk_error *err)
{
	struct file_name *n = t->name;
	int rc;

	if (dlki_file_unchanged(n))
		return 1;
	rc = dlki_file_name_stands(n);
	if (rc < 0)
		return dlki_file_fail(err, errno, "find lock file", n->path);
	n->checked = count;
	return rc;
}

int dlki_file_draw(struct file_ticket *t, int fd, struct dlk_error *err)
{
	struct file_name *n = t->name;
	uint64_t count;
	int rc;

	if (!may_draw_from_memory(t) ||
	    !(n->notify.listens_for & FILE_WRITTEN) ||
	    !dlki_file_unchanged(n)) {
		count = atomic_load(&n->session->inotify.count);
		rc = refresh_tokens(t, fd, err);
		if (rc < 0)
			return rc;
		if (n->tokens.streak > STREAK && n->notify.silent_release)
			dlki_file_hear_writes(n, 1);
		if (n->stale)
			return 0;
		/* Last: a client that replaces the file reads the old file's
		 * state when the new file is in place.  A grant checked later
		 * than that is void. */
		rc = check_path(t, count, err);
		if (rc <= 0)
			return rc;
	}
	t->base.token = n->tokens.next++;
	return 1;
}

void dlki_file_publish(struct file_ticket *t)
{
	struct file_name *n = t->name;
	struct file_header h;
	struct file_state st;

	if (t->base.request.mode != DLK_EXCLUSIVE || n->stale ||
	    n->tokens.last == 0 ||
	    dlki_file_load(t->fd, DLK_LOCK, t->base.request.name, &h, &st) !=
		    FILE_GOOD ||
	    st.session != n->session->id || st.first == st.last)
		return;
	st.first = st.last = t->base.token;
	n->tokens.last = 0;
	(void)dlki_file_store(t->fd, &st);
}

/* Store the range of tokens set aside for the claim, and return the last.  If
 * the state cannot be read or written, the range stays as it was: the claim is
 * not passed on, and the next acquire finds the error. */
static uint64_t store_range(struct file_ticket *t)
{
	struct file_name *n = t->name;
	uint64_t was = t->base.token_last > t->base.token ? t->base.token_last :
							    t->base.token;
	uint64_t last = dlki_file_time() + DLK_TOKENS_AHEAD;
	struct file_state st;

	/* The tokens in memory are part of the range, which is not
	 * published. */
	n->tokens.last = 0;
	if (!dlki_file_load_state(t->fd, &st) || st.session != n->session->id ||
	    st.last < was)
		return was;
	if (st.last >= last)
		return st.last;
	st.first = t->base.token;
	st.last = last;
	st.ticket = t->base.id;
	if (dlki_file_store(t->fd, &st) < 0 || flush_if_wished(n, t->fd) < 0)
		return was;
	return last;
}

int dlki_file_set_aside(struct file_ticket *t, struct dlk_error *err)
{
	struct file_name *n = t->name;
	uint64_t last = store_range(t);
	int rc = dlki_file_name_stands(n);

	if (rc < 0)
		return dlki_file_fail(err, errno, "find lock file", n->path);
	if (!rc) {
		dlki_file_name_stale(n);
		return dlk_fail(err, DLOCK_ELOST,
				"the lock file was removed or replaced");
	}
	t->base.token_last = last;
	return 0;
}

void dlki_file_give_back(const struct file_ticket *t)
{
	const struct file_name *n = t->name;
	struct file_state st;

	if (n->stale || !dlki_file_load_state(t->fd, &st) ||
	    st.session != n->session->id)
		return;
	st.first = st.last = t->base.token_used > t->base.token ?
				     t->base.token_used :
				     t->base.token;
	(void)dlki_file_store(t->fd, &st);
}
