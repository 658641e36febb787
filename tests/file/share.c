/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of several users, and locks of a single user in their midst. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp.h"

enum { ALICE = 61001, BOB = 61002, CREW = 62000, STRANGER = 61003 };

/* A directory for several users, and the next task of a user there. */
struct place {
	char above[PATH_MAX], dir[PATH_MAX + 16];
	const char *query; /* of the URI */
	const char *text;  /* in the refusal */
	atomic_int held, waits, granted, stop;
	_Atomic uint64_t token;
	_Atomic int64_t freed_ms, took_ms;
};

static void remove_it(void *path)
{
	temp_remove(path);
}

/* Not below a test run's directory, which is closed to other users. */
static struct place *place(void)
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

/* The directory, made by root. */
static struct place *place_of(mode_t mode, gid_t group, const char *query)
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
	/* Else /proc/self belongs to root, and inotify is of no use. */
	CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
	umask(077);
}

/* Run `verb` as a user, in another process. */
struct visit {
	uid_t uid;
	void (*verb)(struct place *p);
	struct place *place;
};

static void go(void *arg)
{
	struct visit *e = arg;

	become(e->uid);
	e->verb(e->place);
}

static pid_t start_as(uid_t uid, void (*verb)(struct place *p), struct place *p)
{
	struct visit e = { uid, verb, p };

	return child(go, &e);
}

static void as(uid_t uid, void (*verb)(struct place *p), struct place *p)
{
	child_ended(start_as(uid, verb, p));
}

/* ---- Visits -------------------------------------------------------------- */

static void use(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);

	CHECK(dlock_token(h) > p->token);
	p->token = dlock_token(h);
	CHECK_OK(dlock_release(h));
	end_now(l);
	end_now(c);
}

static void hold(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l, 0);

	p->held = 1;
	EVENTUALLY(p->stop);
	p->freed_ms = now_ms();
	CHECK_OK(dlock_release(h));
	end_now(l);
	end_now(c);
}

static void find_busy(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;
	int n = 0;

	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	CHECK_OK(dlock_inspect(l, count_participant, &n, 1000));
	CHECK_INT(n, ==, 1);
	end_now(l);
	end_now(c);
}

static void wait_for_it(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;

	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EBUSY);
	p->waits = 1;
	h = take(l, FOREVER);
	p->took_ms = now_ms() - p->freed_ms;
	CHECK_OK(dlock_release(h));
	end_now(l);
	end_now(c);
}

static void be_refused(struct place *p)
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

static void break_it(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");

	CHECK_OK(dlock_break(l, patience_ms()));
	end_now(l);
	end_now(c);
}

static void fail_to_break(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_lock *l = mutex(c, "x");

	CHECK_RC(dlock_break(l, patience_ms()), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), p->text);
	end_now(l);
	end_now(c);
}

static void file_is(struct place *p, mode_t mode, uid_t uid)
{
	struct stat st;

	CHECK(stat(store_file(p->dir, "l", "x"), &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, mode);
	CHECK_INT(st.st_uid, ==, uid);
}

static void says(struct place *p, const char *query, const char *text)
{
	p->query = query;
	p->text = text;
}

/* ---- Locks of several users ---------------------------------------------- */

/* Each user leaves the file behind, and excludes the others while holding. */
static void is_shared(struct place *p, uid_t first, uid_t second)
{
	pid_t holder, waiter;

	p->held = p->waits = p->stop = 0;
	as(first, use, p);
	as(second, use, p);
	as(0, use, p);
	as(first, use, p);
	holder = start_as(second, hold, p);
	EVENTUALLY(p->held);
	as(first, find_busy, p);
	as(0, find_busy, p);
	waiter = start_as(first, wait_for_it, p);
	EVENTUALLY(p->waits);
	nap_ms(50);
	p->stop = 1;
	child_ended(holder);
	child_ended(waiter);
	CHECK_WITHIN(p->took_ms, 200 + slack_ms());
}

CASE(file_share, all_users_of_a_sticky_directory)
{
	struct place *p = place_of(01777, 0, "share=all&keep_file=on");

	is_shared(p, ALICE, STRANGER);
	file_is(p, 0666, ALICE);
}

CASE(file_share, the_members_of_a_directorys_group)
{
	struct place *p = place_of(02770, CREW, "share=group&keep_file=on");

	is_shared(p, ALICE, BOB);
	file_is(p, 0660, ALICE);
}

/* The group of a file follows the directory without its set-group-id bit. */
CASE(file_share, a_group_without_the_set_group_id_bit)
{
	struct place *p = place_of(0770, CREW, "share=group&keep_file=on");
	struct stat st;

	is_shared(p, 0, ALICE);
	file_is(p, 0660, 0);
	CHECK(stat(store_file(p->dir, "l", "x"), &st) == 0);
	CHECK_INT(st.st_gid, ==, CREW);
	is_shared(p, BOB, ALICE);
}

/* Only the owner can remove a file from a sticky directory; until then the file
 * serves all. */
CASE(file_share, a_file_of_another_user_that_stays)
{
	struct place *p = place_of(01777, 0, "share=all");

	as(ALICE, use, p);
	CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
	says(p, "share=all&keep_file=on", NULL);
	as(ALICE, use, p);
	says(p, "share=all", NULL);
	as(BOB, use, p);
	file_is(p, 0666, ALICE);
	as(BOB, use, p);
	as(ALICE, use, p);
	CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
	as(BOB, use, p);
	as(0, use, p);
}

static int die_at_fchmod;

/* In the place of libc's: killed after a file is made, before it has a mode. */
int fchmod(int fd, mode_t mode)
{
	if (die_at_fchmod)
		raise(SIGKILL);
	return (int)syscall(SYS_fchmod, fd, mode);
}

static void die_half_made(struct place *p)
{
	die_at_fchmod = 1;
	use(p);
}

static void die_as(uid_t uid, struct place *p)
{
	int status;
	pid_t pid = start_as(uid, die_half_made, p);

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

CASE(file_share, a_maker_that_is_killed_keeps_nobody_out)
{
	struct place *p = place_of(01777, 0, "share=all");

	die_as(ALICE, p);
	as(BOB, use, p);
	CHECK(chmod(p->dir, 02770) == 0 && chown(p->dir, 0, CREW) == 0);
	CHECK(chmod(p->dir, 02770) == 0);
	says(p, "share=group", NULL);
	die_as(ALICE, p);
	as(BOB, use, p);
	/* Nor does the maker of the directory. */
	CHECK(chmod(p->above, 01777) == 0);
	snprintf(p->dir, sizeof(p->dir), "%s/made", p->above);
	says(p, "share=all", NULL);
	die_as(ALICE, p);
	as(BOB, use, p);
	as(ALICE, use, p);
}

CASE(file_share, the_directory_is_made_for_those_who_share_it)
{
	static const struct {
		const char *query;
		mode_t dir, file;
	} made[] = { { "share=user&keep_file=on", 0700, 0600 },
		     { "share=group&keep_file=on", 02770, 0660 },
		     { "share=all&keep_file=on", 01777, 0666 } };
	struct place *p = place();
	struct stat st;
	size_t i;

	CHECK(chown(p->above, 0, CREW) == 0 && chmod(p->above, 03777) == 0);
	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(p->dir, sizeof(p->dir), "%s/%zu", p->above, i);
		says(p, made[i].query, NULL);
		as(ALICE, use, p);
		CHECK(stat(p->dir, &st) == 0);
		CHECK_INT(st.st_mode & 01777, ==, made[i].dir & 01777);
		CHECK_INT(st.st_gid, ==, CREW);
		file_is(p, made[i].file, ALICE);
		if (i)
			as(BOB, use, p);
	}
}

/* ---- Locks of a single user ---------------------------------------------- */

/* A run leaves no file behind to refuse the next user. */
CASE(file_share, users_in_turn_each_with_a_lock_of_their_own)
{
	struct place *p = place_of(01777, 0, NULL);

	for (int i = 0; i < 2; i++) {
		as(ALICE, use, p);
		CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
		as(BOB, use, p);
		CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
		as(0, use, p);
	}
}

CASE(file_share, another_users_own_lock_refuses_with_the_cure)
{
	struct place *p = place_of(01777, 0, "keep_file=on");

	as(ALICE, use, p);
	file_is(p, 0600, ALICE);
	says(p, "share=user", "belongs to user 61001, not to us (61002)");
	as(BOB, be_refused, p);
	p->text = "belongs to user 61001, not to us (0)";
	as(0, be_refused, p);
	p->text = "'dlock.lnx'";
	as(BOB, be_refused, p);
	p->text = "share=group or share=all";
	as(BOB, be_refused, p);
}

/* ---- Misfits ------------------------------------------------------------- */

CASE(file_share, two_shares_of_one_lock_are_named)
{
	struct place *p = place_of(01777, 0, "share=user&keep_file=on");

	as(ALICE, use, p);
	says(p, "share=all",
	     "'dlock.lnx' of user 61001 is for share=user (mode 0600), and we "
	     "have share=all");
	as(ALICE, be_refused, p);
	as(BOB, be_refused, p);
	as(0, be_refused, p);
	CHECK(unlink(store_file(p->dir, "l", "x")) == 0);
	says(p, "share=all&keep_file=on", NULL);
	as(ALICE, use, p);
	says(p, "share=user",
	     "of user 61001 is for share=all (mode 0666), and we have "
	     "share=user");
	as(ALICE, be_refused, p);
	as(BOB, be_refused, p);
	CHECK(chown(p->dir, 0, CREW) == 0 && chmod(p->dir, 03770) == 0);
	says(p, "share=group",
	     "is for share=all (mode 0666), and we have share=group");
	as(BOB, be_refused, p);
}

CASE(file_share, a_file_that_does_not_fit_the_share)
{
	struct place *p = place_of(02770, CREW, "share=group&keep_file=on");
	const char *file = store_file(p->dir, "l", "x");

	as(ALICE, use, p);
	CHECK(chmod(file, 0664) == 0);
	p->text = "user 61001 has mode 0664: chmod it to 0660";
	as(BOB, be_refused, p);
	CHECK(chmod(file, 0660) == 0 && chown(file, ALICE, ALICE) == 0);
	p->text = "user 61001 has group 61001, and the directory 62000";
	as(0, be_refused, p);
	CHECK(unlink(file) == 0);
	CHECK(symlink("/etc/passwd", file) == 0);
	p->text = "symbolic link";
	as(BOB, be_refused, p);
}

CASE(file_share, a_directory_that_does_not_fit_the_share)
{
	struct place *p = place_of(0755, CREW, NULL);

	says(p, "share=all", "(mode 0755) is not one for all users");
	as(ALICE, be_refused, p);
	says(p, "share=group", "(mode 0755) is not open to its group 62000");
	as(ALICE, be_refused, p);
	CHECK(chmod(p->dir, 01777) == 0);
	p->text = "chmod o-w it for share=group, or use share=all";
	as(ALICE, be_refused, p);
	CHECK(chmod(p->dir, 0777) == 0);
	says(p, "share=all", "chmod it to 1777");
	as(ALICE, be_refused, p);
	CHECK(chmod(p->dir, 02775) == 0);
	says(p, "share=group",
	     "is for group 62000, and we (user 61003) are not in it");
	as(STRANGER, be_refused, p);
	CHECK(chmod(p->dir, 02770) == 0);
	p->text = "(mode 2770) is closed to us (user 61003)";
	as(STRANGER, be_refused, p);
	/* Only a share trusts another user's directory. */
	CHECK(chown(p->dir, BOB, CREW) == 0 && chmod(p->dir, 02770) == 0);
	says(p, "share=user", "belongs to user 61002, not to us (61001)");
	as(ALICE, be_refused, p);
	says(p, "share=group", NULL);
	as(ALICE, use, p);
	as(BOB, use, p);
}

/* ---- Breaking ------------------------------------------------------------ */

CASE(file_share, who_may_break_a_lock_of_all)
{
	struct place *p = place_of(01777, 0, "share=all&keep_file=on");

	as(ALICE, use, p);
	p->text = "belongs to user 61001, not to us (61002): only they";
	as(BOB, fail_to_break, p);
	as(BOB, use, p);
	as(ALICE, break_it, p);
	as(BOB, use, p);
	as(0, break_it, p);
	file_is(p, 0666, 0);
	as(ALICE, use, p);
}

CASE(file_share, a_member_may_break_where_no_sticky_bit_is)
{
	struct place *p = place_of(02770, CREW, "share=group&keep_file=on");

	as(ALICE, use, p);
	as(BOB, break_it, p);
	file_is(p, 0660, BOB);
	as(ALICE, use, p);
}
