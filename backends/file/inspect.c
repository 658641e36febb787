/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs that look: inspect, list.  Records in the file describe the
 * participants; only the lock on a byte says that the participant lives.
 */
#include "backends/file/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/name.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "core/base/error.h"

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
	uint32_t limit;  /* of a semaphore */
	uint32_t rest;   /* permits of a holder without a record */
	uint32_t beyond; /* permits of reported holders without a record */
};

/* Is the participant among the reported holders? */
static int is_reported(const struct report *r,
		       const struct file_participant *who)
{
	for (unsigned int k = 0; k < r->n_holders; k++) {
		if (who->session == r->holder[k].session &&
		    who->ticket == r->holder[k].ticket)
			return 1;
	}
	return 0;
}

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
				       .waiting = waiting,
				       .since_ms = (int64_t)(who->token / 1000),
				       .permits = r->rest,
				       .limit = r->limit };

	if (r->limit && !r->rest)
		p.permits = file_permits(who->shared);

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

/* Return the exact token of this session's writer, or 0: while the claim is
 * passed on, only the core knows the token. */
static uint64_t own_token(struct file_session *s, const char *key)
{
	struct file_name *n = dlki_file_name_get(s, key);
	uint64_t token = 0;

	if (!n)
		return 0;
	pthread_mutex_lock(&n->mu);
	if (dlki_file_name_excludes(n) && !TAILQ_FIRST(&n->holding)->watched)
		token = TAILQ_FIRST(&n->holding)->base.token;
	pthread_mutex_unlock(&n->mu);
	dlki_file_name_put(n);
	return token;
}

/* Report the holder of a permit: once, of however many permits. */
static void report_permit(struct report *r, const struct file_participant *who)
{
	if (is_reported(r, who)) {
		r->beyond -= r->beyond > 0;
		return;
	}
	if (r->limit)
		r->beyond += file_permits(who->shared) - 1;
	report_holder(r, who);
}

static int is_locked(const struct report *r, off_t at, off_t len)
{
	return dlki_file_probe(r->fd, F_WRLCK, at, len) != F_UNLCK;
}

static void report_shares(struct report *r)
{
	struct file_participant who;
	uint32_t i, rest, slots = FILE_HOLDER_SLOTS;

	if (r->limit && r->limit < slots &&
	    !is_locked(r, FILE_HOLDERS + r->limit, slots - r->limit))
		slots = r->limit;
	for (i = 0; i < slots; i++) {
		if (dlki_file_participant_load(r->fd, i, &who) &&
		    is_locked(r, FILE_HOLDERS + i, 1))
			report_permit(r, &who);
	}
	if (r->limit)
		rest = dlki_file_count(
			r->fd, FILE_HOLDERS + (r->n_holders ? slots : 0),
			FILE_WAITERS);
	else
		rest = !r->n_holders && is_locked(r, FILE_MAIN, 1);
	if (rest <= r->beyond)
		return;
	rest -= r->beyond;
	/* Report holders without a record together, with their number, which
	 * may be higher. */
	r->rest = rest;
	memset(&who, 0, sizeof(who));
	who.shared = 1;
	report_holder(r, &who);
	r->rest = 0;
}

/* Report the waiters.  A waiter's slot stays locked a moment longer than the
 * wait. */
static void report_waiters(const struct report *r)
{
	struct file_participant who;
	unsigned int i;

	for (i = 0; i < FILE_WAITER_SLOTS; i++) {
		if (is_locked(r, FILE_WAITERS + i, 1) &&
		    dlki_file_participant_load(r->fd, FILE_HOLDER_SLOTS + i,
					       &who) &&
		    !is_reported(r, &who))
			report_one(r, &who, 1);
	}
}

static int report_holders(struct report *r, const char *file,
			  const struct dlk_request *request,
			  struct dlk_error *err)
{
	struct file_state st;
	struct file_participant who = { 0 };
	int found = dlki_file_entry_load(r->fd, file, request, &st, err);
	short type;

	if (found < 0)
		return found;
	if (request->kind == DLK_SEMAPHORE) {
		r->limit = st.limit;
		if (r->limit)
			report_shares(r);
		return 0;
	}
	type = dlki_file_probe(r->fd, F_WRLCK, FILE_MAIN, 1);
	if (type == F_RDLCK) {
		report_shares(r);
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
	return 0;
}

static int report_all(struct report *r, const char *file,
		      const struct dlk_request *request, struct dlk_error *err)
{
	int rc = report_holders(r, file, request, err);

	if (rc == 0)
		report_waiters(r);
	return rc;
}

/* Report through a description of the session: to open and close the file would
 * announce a waiter, and the session itself may have the lock.  1: no
 * description is free. */
static int report_quietly(struct report *r, const struct dlk_request *request,
			  struct dlk_error *err)
{
	struct file_name *n = dlki_file_name_get(r->s, request->key);
	int rc = 1;

	if (!n)
		return dlki_nomem(err);
	r->fd = dlki_file_fd_borrow(n);
	if (r->fd >= 0) {
		rc = report_all(r, n->file, request, err);
		dlki_file_fd_return(n, r->fd);
	}
	dlki_file_name_put(n);
	return rc;
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
	if (rc == 0)
		rc = report_quietly(&r, request, err);
	if (rc <= 0)
		return rc;
	file = dlki_file_entry_name(r.s, request->key, "");
	if (!file)
		return dlki_nomem(err);
	rc = dlki_file_entry_look(r.s, file, &r.fd, err);
	if (rc == 0 && r.fd >= 0) {
		rc = report_all(&r, file, request, err);
		close(r.fd);
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

/* Leave out a file that is gone, or not ours to read. */
static int list_one(struct file_session *s, const char *file,
		    void (*each)(const struct dlock_lock_info *e, void *arg),
		    void *arg, struct dlk_error *err)
{
	struct dlock_lock_info e = { .size = sizeof(e) };
	struct file_header h;
	struct file_state st;
	int fd = dlki_file_entry_read(s, file);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return dlki_file_fail(err, errno, "open lock file", file);
	if (fd < 0)
		return 0;
	if (dlki_file_load(fd, DLK_LOCK, NULL, &h, &st) == FILE_GOOD) {
		e.name = h.name;
		e.kind = kind_name(h.kind);
		e.permits = st.limit;
		each(&e, arg);
	}
	close(fd);
	return 0;
}

/* Is this the name of a lock file with our prefix? */
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
	while (rc == 0 && (d = readdir(dir))) {
		if (is_lock_file(s, d->d_name))
			rc = list_one(s, d->d_name, each, arg, err);
	}
	closedir(dir);
	return rc;
}
