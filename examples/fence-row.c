/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence-row NAME DATABASE - set the row NAME of an SQLite table to standard
 * input's first line, under the lock NAME; see fence-file.c.
 *
 * The comparison is in the statement that writes, so the database does both in
 * a single step.  In any SQL: UPDATE ... SET value = ?, token = ?
 * WHERE token <= ?.
 */
#include <dlock/dlock.h>
#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

static const char table[] = "CREATE TABLE IF NOT EXISTS fenced "
			    "(name TEXT PRIMARY KEY, value TEXT, token INT)";
static const char write_row[] =
	"INSERT INTO fenced VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE "
	"SET value = ?2, token = ?3 WHERE token <= ?3";

/* 0, or -1: a later holder was here. */
static int write_fenced(sqlite3 *db, const char *name, uint64_t token,
			const char *value)
{
	sqlite3_stmt *st;
	int rc;

	if (sqlite3_exec(db, table, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, write_row, -1, &st, NULL) != SQLITE_OK)
		errx(EX_IOERR, "%s", sqlite3_errmsg(db));
	sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, value, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, (sqlite3_int64)token);
	rc = sqlite3_step(st);
	if (rc != SQLITE_DONE)
		errx(EX_IOERR, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(st);
	return sqlite3_changes(db) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	dlock_options options = DLOCK_OPTIONS_INIT;
	char line[1024] = "";
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;
	sqlite3 *db;
	int rc = 0;

	if (argc != 3 || !getenv("DLOCK_URI"))
		errx(EX_USAGE, "usage: DLOCK_URI=... fence-row NAME DATABASE");
	options.require = DLOCK_CAP_FENCE;
	if (dlock_open(&client, getenv("DLOCK_URI"), &options) < 0 ||
	    dlock_mutex_new(&lock, client, argv[1]) < 0)
		errx(EX_CONFIG, "%s", dlock_errmsg());
	if (sqlite3_open(argv[2], &db) != SQLITE_OK)
		errx(EX_CANTCREAT, "%s: %s", argv[2], sqlite3_errmsg(db));
	sqlite3_busy_timeout(db, 10000);
	if (dlock_acquire(lock, 10000, &hold) < 0)
		errx(EX_UNAVAILABLE, "%s", dlock_errmsg());
	fprintf(stderr, "token %llu\n", (unsigned long long)dlock_token(hold));
	if (!fgets(line, sizeof(line), stdin)) {
		warnx("no input; nothing was written");
		rc = EX_NOINPUT;
	} else if (write_fenced(db, argv[1], dlock_token(hold), line) < 0) {
		warnx("refused: somebody has had the lock since");
		rc = EX_TEMPFAIL;
	}
	if (dlock_release(hold) < 0)
		warnx("%s", dlock_errmsg());
	sqlite3_close(db);
	dlock_lock_free(lock);
	dlock_close(client);
	return rc;
}
