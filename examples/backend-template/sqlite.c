/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete store for dlock, to be copied: locks between the processes of one
 * host in an SQLite file, sqlite:///path/to/locks.db.  A request is a row from
 * the first attempt until the release; the rows of a key, in order, are the
 * wait queue; a row without renewal expires.  Each verb is a transaction.
 */
#include <dlock/backend.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

#define KEY "key = ?1 AND prefix = ?6"
#define MINE KEY " AND owner = ?2"
#define PAUSE_MS 10 /* of a thread that waits for another process */

/* The core allocates and zeroes it; the core's own part comes first. */
struct session {
	struct dlk_session base;
	sqlite3 *db;
	char boot[40]; /* boot-time clocks of two boots do not compare */
};

/* A single thread uses SQLite at a time, and no thread during a fork. */
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
	pthread_mutex_lock(&mu);
}
static void unlock(void)
{
	pthread_mutex_unlock(&mu);
}

static void __attribute__((constructor)) loaded(void)
{
	pthread_atfork(lock, unlock, unlock);
}

/* ---- SQLite under a deadline --------------------------------------------- */

static int failed(struct session *s, struct dlk_error *err)
{
	int busy = sqlite3_errcode(s->db) == SQLITE_BUSY;

	return dlk_fail(err, busy ? DLOCK_EUNREACHABLE : DLOCK_ESYSTEM,
			"%s: %s", s->base.uri->shown, sqlite3_errmsg(s->db));
}

static int run(struct session *s, const char *sql, struct dlk_error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? failed(s, err) : 0;
}

/* A statement with parameters: ?1 key, ?2 owner, ?3 the clock, ?4 the boot,
 * ?5 a number, ?6 prefix, ?7 mode.  NULL: see failed(). */
static sqlite3_stmt *ready(struct session *s, const char *sql,
			   const struct dlk_request *r, int64_t number)
{
	const char *prefix = dlk_param_text(s->base.uri, "prefix");
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_text(q, 1, r->key, -1, NULL);
	sqlite3_bind_text(q, 2, r->owner, -1, NULL);
	sqlite3_bind_int64(q, 3, dlk_now());
	sqlite3_bind_text(q, 4, s->boot, -1, NULL);
	sqlite3_bind_int64(q, 5, number);
	sqlite3_bind_text(q, 6, prefix, -1, NULL);
	sqlite3_bind_int(q, 7, (int)r->mode);
	return q;
}

/* Run a statement without rows; sqlite3_changes() counts the changes. */
static int change(struct session *s, const char *sql,
		  const struct dlk_request *r, int64_t number,
		  struct dlk_error *err)
{
	sqlite3_stmt *q = ready(s, sql, r, number);
	int rc = q && sqlite3_step(q) == SQLITE_DONE ? 0 : failed(s, err);

	sqlite3_finalize(q);
	return rc;
}

/* Begin a transaction, or fail by the deadline, which a cancel brings near.
 * While another process writes, forks and other threads have the mutex. */
static int begin(struct session *s, dlk_time deadline, struct dlk_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * DLK_MS };

	for (;;) {
		int rc;

		lock();
		rc = run(s, "BEGIN IMMEDIATE", err);
		if (rc == 0)
			return 0;
		unlock();
		if (rc != DLOCK_EUNREACHABLE ||
		    dlk_now() >= dlk_deadline(deadline))
			return rc;
		nanosleep(&pause, NULL);
	}
}

/* Commit if `rc` is 0, else undo all; returns the result of both. */
static int end(struct session *s, int rc, struct dlk_error *err)
{
	if (rc == 0)
		rc = run(s, "COMMIT", err);
	if (rc != 0)
		run(s, "ROLLBACK", NULL);
	unlock();
	return rc;
}

/* ---- open, close --------------------------------------------------------- */

/* With a write-ahead log, closing a connection would leave descriptors. */
static const char schema[] =
	"PRAGMA journal_mode=PERSIST; PRAGMA synchronous=OFF;"
	"CREATE TABLE IF NOT EXISTS request(id INTEGER PRIMARY KEY"
	" AUTOINCREMENT, prefix, key, owner, mode, token, until, boot,"
	" UNIQUE(prefix, key, owner));"
	"CREATE TABLE IF NOT EXISTS last(prefix, key, token,"
	" PRIMARY KEY(prefix, key));";

static int s_open(struct dlk_session *base, dlk_time deadline,
		  struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	int rc = 0;

	if (!f || !fgets(s->boot, sizeof(s->boot), f) || !base->uri->path ||
	    base->uri->path[0] != '/')
		rc = dlk_fail(err, DLOCK_EINVAL,
			      "sqlite: no file; write sqlite:///path/locks.db");
	if (f)
		fclose(f);
	if (rc != 0)
		return rc;
	(void)deadline; /* the core opens again until then */
	lock();
	rc = sqlite3_open(base->uri->path, &s->db) ? failed(s, err) : 0;
	sqlite3_busy_timeout(s->db, PAUSE_MS);
	if (rc == 0)
		rc = run(s, schema, err);
	if (rc != 0)
		sqlite3_close(s->db);
	unlock();
	return rc;
}

static void s_close(struct dlk_session *base, dlk_time deadline)
{
	(void)deadline;
	lock();
	sqlite3_close(((struct session *)base)->db);
	unlock();
}

/* ---- attempt ------------------------------------------------------------- */

/* dlk_grant()'s rule, in SQL: holders and waiters ahead of us. */
static int my_turn(struct session *s, const struct dlk_request *r, int *granted,
		   struct dlk_error *err)
{
	static const char sql[] =
		"SELECT count(*), total(mode = ?5) FROM request WHERE " KEY
		" AND id < (SELECT id FROM request WHERE " MINE ")";
	sqlite3_stmt *q = ready(s, sql, r, DLK_EXCLUSIVE);
	int rc = sqlite3_step(q) == SQLITE_ROW ? 0 : failed(s, err);

	*granted = sqlite3_column_int(q, r->mode == DLK_SHARED) == 0;
	sqlite3_finalize(q);
	return rc;
}

/* Larger than all before, and than the clock: the file may be new. */
static int give_token(struct session *s, struct dlk_ticket *t,
		      struct dlk_error *err)
{
	struct timespec wall;
	sqlite3_stmt *q;
	int rc;

	clock_gettime(CLOCK_REALTIME, &wall);
	q = ready(s,
		  "UPDATE request SET token = iif(token > 0, token, max(?5,"
		  " 1 + ifnull((SELECT token FROM last WHERE " KEY "), 0)))"
		  " WHERE " MINE " RETURNING token",
		  &t->request, wall.tv_sec * 1000000 + wall.tv_nsec / 1000);
	rc = sqlite3_step(q) == SQLITE_ROW ? 0 : failed(s, err);
	t->token = (uint64_t)sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc ? rc :
		    change(s, "REPLACE INTO last VALUES(?6, ?1, ?5)",
			   &t->request, (int64_t)t->token, err);
}

static int ask(struct session *s, struct dlk_ticket *t, int *granted,
	       struct dlk_error *err)
{
	int64_t keep_ms = t->lease_ms + s->base.margin_ms;
	int rc = change(s,
			"DELETE FROM request WHERE " KEY
			" AND (until <= ?3 OR boot <> ?4)",
			&t->request, 0, err);

	if (rc == 0)
		rc = change(s,
			    "INSERT INTO request VALUES(NULL, ?6, ?1, ?2,"
			    " ?7, 0, ?5, ?4)"
			    " ON CONFLICT DO UPDATE SET until = ?5",
			    &t->request, t->since + keep_ms * DLK_MS, err);
	if (rc == 0)
		rc = my_turn(s, &t->request, granted, err);
	return rc == 0 && *granted ? give_token(s, t, err) : rc;
}

static enum dlk_verdict s_attempt(struct dlk_ticket *t, dlk_time deadline,
				  struct dlk_error *err)
{
	struct session *s = (struct session *)t->session;
	int granted = 0;
	int rc = begin(s, deadline, err);

	t->settled = 1; /* a transaction is done or undone when we return */
	if (rc == 0)
		rc = end(s, ask(s, t, &granted, err), err);
	if (rc != 0)
		return DLK_FAILED;
	return granted ? DLK_GRANTED : DLK_BUSY; /* polled: it cannot wake */
}

/* ---- renew, release ------------------------------------------------------ */

static void s_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		    enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		    struct dlk_error *err)
{
	struct session *s = (struct session *)base;
	int rc = begin(s, deadline, err);

	if (rc != 0)
		return;
	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = change(s,
			    "UPDATE request SET until = ?5 WHERE " MINE
			    " AND token > 0 AND until > ?3 AND boot = ?4",
			    &t[i]->request,
			    t[i]->since + t[i]->lease_ms * DLK_MS, err);
		verdict[i] = sqlite3_changes(s->db) ? DLK_RENEWED : DLK_GONE;
	}
	if (end(s, rc, err) != 0) {
		for (size_t i = 0; i < n; i++)
			verdict[i] = DLK_UNKNOWN;
	}
}

static int s_release(struct dlk_ticket *t, dlk_time deadline,
		     struct dlk_error *err)
{
	struct session *s = (struct session *)t->session;
	uint64_t granted = t->token;
	int rc = begin(s, deadline, err);

	t->token = 0; /* from here on a missing row proves no loss */
	if (rc != 0)
		return rc;
	rc = change(s, "DELETE FROM request WHERE " MINE, &t->request, 0, err);
	if (rc == 0 && granted && sqlite3_changes(s->db) == 0)
		rc = dlk_fail(err, DLOCK_ELOST, "the row was gone");
	return end(s, rc, err);
}

static const struct dlock_backend backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = (const char *const[]){ "sqlite", NULL },
	.summary = "an SQLite file of this host",
	.caps = DLOCK_CAP_SHARED | DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE |
		DLOCK_CAP_FAIR | DLOCK_CAP_EXPIRE,
	.session_size = sizeof(struct session),
	.ticket_size = sizeof(struct dlk_ticket),
	.open = s_open,
	.close = s_close,
	.attempt = s_attempt,
	.renew = s_renew,
	.release = s_release,
};

DLOCK_MODULE(&backend);
