/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/coming-from.md: each row of the tables for C and the shell names a
 * function, and each function stands in a row.
 * python/tests/test_coming_from.py does the same for Python.
 */
#include "coming/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(coming, .timeout = 120);

dlock_hold *coming_take(dlock_lock *lock)
{
	dlock_hold *hold = NULL;

	OK(dlock_acquire(lock, LONG_MS, &hold));
	return hold;
}

void coming_busy(struct coming *t, int64_t timeout_ms)
{
	dlock_hold *hold, *theirs = coming_take(t->theirs);

	IS(dlock_acquire(t->lock, timeout_ms, &hold), DLOCK_EBUSY);
	OK(dlock_release(theirs));
}

void coming_both(struct coming *t, dlock_client *client)
{
	dlock_lock *b, *both;
	dlock_hold *hold;

	OK(dlock_mutex_new(&b, client, "coming/second"));
	OK(dlock_multi_new(&both, (dlock_lock *[]){ t->lock, b }, 2));
	OK(dlock_acquire(both, LONG_MS, &hold));
	OK(dlock_release(hold));
	dlock_lock_free(both);
	dlock_lock_free(b);
}

static void done(const struct dlock_result *r, void *arg)
{
	IS(r->code, DLOCK_OK);
	*(dlock_hold **)arg = r->hold;
}

void coming_async(struct coming *t, int64_t timeout_ms)
{
	dlock_hold *hold = NULL;

	OK(dlock_lock_unbind(t->lock));
	OK(dlock_acquire_start(t->lock, timeout_ms, done, &hold, NULL));
	OK(dlock_wait(t->client, LONG_MS));
	OK(dlock_release(hold));
}

static void run_row(const struct coming_row *row)
{
	static const char uri[] = "mem:?ttl=30s";
	struct coming t = { 0 };

	snprintf(t.name, sizeof(t.name), "coming/%s", row->name);
	OK(dlock_open(&t.client, uri, NULL));
	OK(dlock_open(&t.other, uri, NULL));
	OK(dlock_mutex_new(&t.lock, t.client, t.name));
	OK(dlock_mutex_new(&t.theirs, t.other, t.name));
	row->run(&t);
	dlock_lock_free(t.theirs);
	dlock_lock_free(t.lock);
	dlock_close(t.other);
	dlock_close(t.client);
}

/* How many rows of the page end with this name? */
static int rows_with(FILE *page, const char *name)
{
	char line[2000], end[100];
	int n = 0;

	snprintf(end, sizeof(end), " <!-- %s --> |\n", name);
	rewind(page);
	while (fgets(line, sizeof(line), page)) {
		size_t len = strlen(line), tail = strlen(end);

		if (len > tail && strcmp(line + len - tail, end) == 0)
			n++;
	}
	return n;
}

/* How many rows has the table below this heading? */
static int rows_below(FILE *page, const char *heading)
{
	char line[2000];
	int here = 0, n = 0;

	rewind(page);
	while (fgets(line, sizeof(line), page)) {
		if (strncmp(line, "## ", 3) == 0)
			here = strncmp(line + 3, heading, strlen(heading)) == 0;
		else if (here && line[0] == '|')
			n++;
	}
	return n - 2; /* the head */
}

static void check_table(const char *heading, const struct coming_row *rows)
{
	FILE *page = fopen(COMING_PAGE, "r");
	int n = 0;

	cr_assert_not_null(page);
	for (; rows[n].name; n++) {
		cr_expect_eq(rows_with(page, rows[n].name), 1,
			     "%s is in no row, or in several", rows[n].name);
		run_row(&rows[n]);
	}
	cr_expect_eq(rows_below(page, heading), n,
		     "a row of %s has no test, or the page no such table",
		     heading);
	fclose(page);
}

Test(coming, from_curator)
{
	check_table("Curator\n", curator_rows);
}

Test(coming, from_redisson)
{
	check_table("Redisson\n", redisson_rows);
}

Test(coming, from_redsync)
{
	check_table("Redlock and redsync\n", redsync_rows);
}

Test(coming, from_distributedlock)
{
	check_table("DistributedLock\n", distributedlock_rows);
}

Test(coming, from_flock)
{
	char *uri = NULL;

	cr_assert_gt(asprintf(&uri, "file://%s/coming", getenv("TMPDIR")), 0);
	setenv("DLOCK_URI", uri, 1);
	free(uri);
	check_table("flock\n", flock_rows);
}
