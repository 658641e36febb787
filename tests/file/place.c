/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <criterion/criterion.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp.h"

static void remove_it(void *path)
{
	temp_remove(path);
}

/* Other users cannot enter the directory of a test run, so use /tmp. */
struct place *place(void)
{
	struct place *p;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	p = shared(sizeof(*p));
	CHECK(setenv("TMPDIR", "/tmp", 1) == 0);
	store_make(p->above);
	CHECK(chmod(p->above, 0755) == 0);
	at_end(remove_it, p->above);
	snprintf(p->dir, sizeof(p->dir), "%s/d", p->above);
	return p;
}

struct place *place_of(mode_t mode, gid_t group, const char *query)
{
	struct place *p = place();

	CHECK(mkdir(p->dir, 0700) == 0);
	CHECK(chown(p->dir, 0, group) == 0 && chmod(p->dir, mode) == 0);
	p->query = query;
	return p;
}

static void become(uid_t uid)
{
	gid_t crew = CREW;
	int in_crew = uid == ALICE || uid == BOB;

	if (uid == 0)
		return;
	CHECK(setgroups(in_crew ? 1 : 0, &crew) == 0);
	CHECK(setgid(uid) == 0 && setuid(uid) == 0);
	/* Otherwise /proc/self belongs to root, and inotify is of no use. */
	CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
	umask(077);
}

struct visit {
	uid_t uid;
	void (*run)(struct place *p);
	struct place *place;
};

static void go(void *arg)
{
	struct visit *e = arg;

	become(e->uid);
	e->run(e->place);
}

pid_t start_as(uid_t uid, void (*run)(struct place *p), struct place *p)
{
	struct visit e = { uid, run, p };

	return child(go, &e);
}

void as(uid_t uid, void (*run)(struct place *p), struct place *p)
{
	child_ended(start_as(uid, run, p));
}

/* ---- Visits -------------------------------------------------------------- */

void use(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_hold *h = take(mutex(c, "x"), 0);

	CHECK(dlock_token(h) > p->token);
	p->token = dlock_token(h);
	give(h);
}

void hold(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_hold *h = take(mutex(c, "x"), 0);

	p->held = 1;
	EVENTUALLY(p->stop);
	p->freed_ms = now_ms();
	CHECK_OK(dlock_release(h));
}

void find_busy(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;
	int n = 0;

	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	CHECK_OK(dlock_inspect(l, count_participant, &n, 1000));
	CHECK_INT(n, ==, 1);
}

void wait_for_it(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;

	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	p->waits = 1;
	h = take(l, FOREVER);
	p->took_ms = now_ms() - p->freed_ms;
	CHECK_OK(dlock_release(h));
}

void be_refused(struct place *p)
{
	char uri[PATH_MAX + 64];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;
	int rc;

	snprintf(uri, sizeof(uri), "file://%s?%s", p->dir, p->query);
	rc = dlock_open(&c, uri, NULL);
	if (rc == DLOCK_OK) {
		l = mutex(c, "x");
		rc = dlock_acquire(l, 60000, &h);
	}
	CHECK_INT(rc, ==, DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), p->text);
}

void file_is(struct place *p, mode_t mode, uid_t uid)
{
	struct stat st;

	CHECK(stat(store_file(p->dir, "l", "x"), &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, mode);
	CHECK_INT(st.st_uid, ==, uid);
}

void says(struct place *p, const char *query, const char *text)
{
	p->query = query;
	p->text = text;
}
