/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs for people: inspect, list, break.  Records in the file say who a
 * participant is; only the lock on its byte says that it lives.
 */
#include "backends/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/floor.h"
#include "backends/file/name.h"
#include "backends/file/state.h"
#include "backends/file/table.h"

#define RACES 100

/* ---- inspect ------------------------------------------------------------- */

struct report {
	struct file_session *s;
	int fd;
	void (*each)(const struct dlock_participant *p, void *arg);
	void *arg;
	struct {
		uint64_t session, ticket;
	} holder[FILE_HOLDER_SLOTS];
	unsigned int n_holders;
};

static void report_one(const struct report *r,
		       const struct file_participant *who, int waiting)
{
	char id[48];
	struct dlock_participant p = { .size = sizeof(p),
				       .label = who->label,
				       .id = id,
				       .token = who->token,
				       .remaining_ms = -1,
				       .shared = who->shared != 0,
				       .waiting = waiting };

	snprintf(id, sizeof(id), "%016llx-%llu",
		 (unsigned long long)who->session,
		 (unsigned long long)who->ticket);
	r->each(&p, r->arg);
}

static void report_holder(struct report *r, const struct file_participant *who)
{
	report_one(r, who, 0);
	if (r->n_holders == FILE_HOLDER_SLOTS)
		return;
	r->holder[r->n_holders].session = who->session;
	r->holder[r->n_holders++].ticket = who->ticket;
}

/* The exact token of this session's writer, or 0. */
static uint64_t own_token(struct file_session *s, const char *key)
{
	struct file_name *n = dlki_file_name_get(s, key);
	uint64_t token = 0;

	if (!n)
		return 0;
	pthread_mutex_lock(&n->mu);
	if (dlki_file_name_excludes(n))
		token = n->holding.head->base.token;
	pthread_mutex_unlock(&n->mu);
	dlki_file_name_put(n);
	return token;
}

static int is_locked(const struct report *r, off_t at, off_t len)
{
	return dlki_file_probe(r->fd, F_WRLCK, at, len) != F_UNLCK;
}

static void report_shares(struct report *r, uint32_t limit)
{
	struct file_participant who;
	uint32_t i, from, slots = FILE_HOLDER_SLOTS;
	int rest;

	if (limit && limit < slots)
		slots = limit;
	for (i = 0; i < slots; i++) {
		if (dlki_file_participant_load(r->fd, i, &who) &&
		    is_locked(r, FILE_HOLDERS + i, 1))
			report_holder(r, &who);
	}
	from = r->n_holders ? slots : 0;
	if (limit)
		rest = from < limit &&
		       is_locked(r, FILE_HOLDERS + from, limit - from);
	else
		rest = !r->n_holders && is_locked(r, FILE_MAIN, 1);
	if (!rest)
		return;
	/* A holder without a record: report at least that there is one. */
	memset(&who, 0, sizeof(who));
	who.shared = 1;
	report_holder(r, &who);
}

/* A waiter's slot stays locked a moment longer than the wait. */
static void report_waiters(const struct report *r)
{
	struct file_participant who;
	unsigned int i, k;

	for (i = 0; i < FILE_WAITER_SLOTS; i++) {
		if (!is_locked(r, FILE_WAITERS + i, 1) ||
		    !dlki_file_participant_load(r->fd, FILE_HOLDER_SLOTS + i,
						&who))
			continue;
		for (k = 0; k < r->n_holders; k++) {
			if (who.session == r->holder[k].session &&
			    who.ticket == r->holder[k].ticket)
				break;
		}
		if (k == r->n_holders)
			report_one(r, &who, 1);
	}
}

static void report_holders(struct report *r, const struct dlk_request *request)
{
	struct file_header h;
	struct file_state st;
	struct file_participant who = { 0 };
	short type;

	if (dlki_file_load(r->fd, request->kind, request->name, &h, &st) < 0)
		return;
	if (request->kind == DLK_SEMAPHORE) {
		if (st.limit)
			report_shares(r, (uint32_t)st.limit);
		return;
	}
	type = dlki_file_probe(r->fd, F_WRLCK, FILE_MAIN, 1);
	if (type == F_RDLCK) {
		report_shares(r, 0);
	} else if (type == F_WRLCK) {
		who.session = st.session;
		who.ticket = st.ticket;
		memcpy(who.label, st.label, sizeof(who.label));
		if (st.first == st.last)
			who.token = st.last;
		else if (st.session == r->s->id)
			who.token = own_token(r->s, request->key);
		report_holder(r, &who);
	}
}

int dlki_file_inspect(struct dlk_session *base,
		      const struct dlk_request *request,
		      void (*each)(const struct dlock_participant *p,
				   void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct report r = { .s = file_session(base), .each = each, .arg = arg };
	char *file;
	int rc = dlki_file_dir_follow(r.s, err);

	(void)deadline;
	if (rc < 0)
		return rc;
	file = dlki_file_entry_name(r.s, request->key, "");
	if (!file)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	r.fd = dlki_file_entry_read(r.s, file);
	if (r.fd >= 0) {
		report_holders(&r, request);
		report_waiters(&r);
		close(r.fd);
	} else if (errno != ENOENT) {
		rc = dlki_file_fail(err, errno, "open lock file", file);
	}
	free(file);
	return rc;
}

/* ---- list ---------------------------------------------------------------- */

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = { "lock", "semaphore" };

	return kind < 2 ? names[kind] : "unknown";
}

static void list_one(struct file_session *s, const char *file,
		     void (*each)(const struct dlock_lock_info *e, void *arg),
		     void *arg)
{
	struct dlock_lock_info e = { .size = sizeof(e) };
	struct file_header h;
	struct file_state st;
	int fd = dlki_file_entry_read(s, file);

	if (fd < 0)
		return;
	if (dlki_file_load(fd, DLK_LOCK, NULL, &h, &st) == FILE_GOOD) {
		e.name = h.name;
		e.kind = kind_name(h.kind);
		e.permits = (uint32_t)st.limit;
		each(&e, arg);
	}
	close(fd);
}

/* Is this a name of a lock file with our prefix? */
static int is_lock_file(const struct file_session *s, const char *file)
{
	size_t n = strlen(s->prefix);

	if (strncmp(file, s->prefix, n))
		return 0;
	file += n;
	return *file && !file[strspn(file, "0123456789"
					   "abcdefghijklmnopqrstuvwxyz")];
}

int dlki_file_list(struct dlk_session *base,
		   void (*each)(const struct dlock_lock_info *e, void *arg),
		   void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	struct dirent *d;
	DIR *dir;
	int fd, rc = dlki_file_dir_follow(s, err);

	(void)deadline;
	if (rc < 0)
		return rc;
	fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return dlki_file_fail(err, errno, "open directory", s->dir);
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return dlki_file_fail(err, errno, "read directory", s->dir);
	}
	while ((d = readdir(dir))) {
		if (is_lock_file(s, d->d_name))
			list_one(s, d->d_name, each, arg);
	}
	closedir(dir);
	return 0;
}

/* ---- break --------------------------------------------------------------- */

/* Did we fail because another client breaks the same lock, and has removed our
 * new file or put it in place? */
static int raced(int errnum)
{
	return errnum == ENOENT || errnum == EEXIST || errnum == EAGAIN;
}

/* So that the next token of the new file is larger than any of the old one. */
static int carry_state_over(int fd, int old, const struct dlk_request *request)
{
	struct file_header h;
	struct file_state was, st;

	memset(&st, 0, sizeof(st));
	if (dlki_file_load(old, request->kind, request->name, &h, &was) < 0)
		return -1;
	st.first = st.last = was.last > dlki_file_time() ? was.last :
							   dlki_file_time();
	st.limit = was.limit;
	return dlki_file_format(fd, request->kind, request->name, &st);
}

/*
 * Put a new file in the place of `old`.  The holder keeps its lock on the old
 * file, which nobody else asks for, and its watch tells it so.
 *
 * The state is carried over twice: before the exchange, to see that there is
 * room, and after it, when the old file has given its last token.  Nobody can
 * acquire the new one in between, as we have locked all its bytes.
 * 1: others were in the way.
 */
static int replace_file(struct file_session *s, const char *file,
			const char *fresh, int old, int fd,
			const struct dlk_request *request,
			struct dlk_error *err)
{
	int errnum, rc;

	if (fchmod(fd, 0600) < 0 || dlki_file_lock_all(fd) != 1 ||
	    carry_state_over(fd, old, request) < 0 ||
	    renameat(s->dirfd, fresh, s->dirfd, file) < 0) {
		errnum = errno;
		rc = dlki_file_fail(err, errnum, "replace lock file", file);
		if (raced(errnum))
			return 1;
		(void)unlinkat(s->dirfd, fresh, 0);
		return rc;
	}
	if (carry_state_over(fd, old, request) < 0)
		return dlki_file_fail(err, errno, "write lock file", file);
	return 0;
}

static int break_file(struct file_session *s, const char *file,
		      const char *fresh, const struct dlk_request *request,
		      struct dlk_error *err)
{
	struct stat st;
	int old, fd, errnum, rc;

	if (fstatat(s->dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return 0;
	rc = dlki_file_table_entry(s, file, &old, &st, err);
	if (rc < 0)
		return rc;
	/* It was left by a client that was killed here, or belongs to one that
	 * is here now and will find it gone. */
	(void)unlinkat(s->dirfd, fresh, 0);
	fd = -1;
	if (!dlki_file_fds_hold())
		fd = dlki_file_fds_keep(openat(s->dirfd, fresh,
					       O_RDWR | O_CREAT | O_EXCL |
						       O_CLOEXEC | O_NOFOLLOW,
					       0600));
	errnum = errno;
	if (fd >= 0)
		rc = replace_file(s, file, fresh, old, fd, request, err);
	else
		rc = dlki_file_fail(err, errnum, "make lock file", fresh);
	if (fd < 0 && raced(errnum))
		rc = 1;
	dlki_file_fds_close(fd);
	dlki_file_fds_close(old);
	return rc;
}

static int break_despite_races(struct file_session *s, const char *file,
			       const char *fresh,
			       const struct dlk_request *request,
			       struct dlk_error *err)
{
	int rc = break_file(s, file, fresh, request, err);

	for (int i = 0; rc > 0 && i < RACES; i++) {
		sched_yield();
		rc = break_file(s, file, fresh, request, err);
	}
	return rc > 0 ? err->code : rc;
}

int dlki_file_break(struct dlk_session *base, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, request->key, "");
	char *fresh = dlki_file_entry_name(s, request->key, "~");
	int rc = dlki_file_dir_follow(s, err);
	int floor = -1;

	if (rc == 0 && (!file || !fresh))
		rc = dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (rc == 0)
		rc = floor = dlki_file_floor_lock(s, deadline, err);
	if (rc >= 0)
		rc = break_despite_races(s, file, fresh, request, err);
	dlki_file_floor_unlock(floor);
	free(file);
	free(fresh);
	return rc;
}
