/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of several users. */
#include "place.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each user leaves the file behind, and excludes the other users while
 * holding. */
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

/* A file gets the group of the directory even without the directory's
 * set-group-id bit. */
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

static void removes_in_vain(void)
{
	FAIL("another user's file cannot be removed");
}

static void use_without_removal(struct place *p)
{
	before_unlink = removes_in_vain;
	use(p);
}

/* In a sticky directory only the owner can remove a file. Until then the file
 * serves all users. */
CASE(file_share, a_file_of_another_user_that_stays)
{
	struct place *p = place_of(01777, 0, "share=all");

	as(ALICE, use, p);
	CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
	says(p, "share=all&keep_file=on", NULL);
	as(ALICE, use, p);
	says(p, "share=all", NULL);
	as(BOB, use_without_removal, p);
	file_is(p, 0666, ALICE);
	as(ALICE, use, p);
	CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
	as(BOB, use, p);
	as(0, use, p);
}

static int die_at_fchmod;

/* Replaces libc's function: kill the process after the file is made and before
 * the file has a mode. */
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
	/* Nor does the killed maker of the directory keep other users out. */
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

#define USERS 4
#define TURNS 60

/* Each turn has a new client: the user removes the idle file if the directory
 * permits, and the next user makes a new file. */
static void take_turns(struct place *p)
{
	for (int i = 0; i < TURNS; i++) {
		dlock_client *c = store_open(p->dir, p->query);
		dlock_lock *l = mutex(c, "x");
		dlock_hold *h = take(l, FOREVER);

		CHECK_INT(++p->inside, ==, 1);
		CHECK(dlock_token(h) > p->token);
		p->token = dlock_token(h);
		sched_yield();
		CHECK_INT(--p->inside, ==, 0);
		CHECK_OK(dlock_release(h));
		end_now(l);
		end_now(c);
	}
}

static void exclude_each_other(struct place *p)
{
	static const uid_t user[USERS] = { ALICE, BOB, 0, ALICE };
	pid_t pid[USERS];

	for (int i = 0; i < USERS; i++)
		pid[i] = start_as(user[i], take_turns, p);
	for (int i = 0; i < USERS; i++)
		child_ended(pid[i]);
}

CASE(file_share, users_come_and_go)
{
	exclude_each_other(place_of(01777, 0, "share=all"));
}

CASE(file_share, members_come_and_go)
{
	exclude_each_other(place_of(02770, CREW, "share=group"));
}

static void be_an_hour_late(struct place *p)
{
	clock_back_s = 3600;
	use(p);
}

/* The floor counts, whichever member wrote the floor. */
CASE(file_share, tokens_rise_over_the_removals_of_others)
{
	struct place *p = place_of(02770, CREW, "share=group");

	as(ALICE, use, p);
	CHECK(access(store_file(p->dir, "l", "x"), F_OK) < 0);
	as(BOB, be_an_hour_late, p);
	as(ALICE, be_an_hour_late, p);
}

static int protected_regular;

/* Replaces libc's function: refuse as the kernel does with
 * fs.protected_regular=2 in a sticky directory. */
int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	struct stat st;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (protected_regular && (flags & (O_CREAT | O_EXCL)) == O_CREAT &&
	    fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid != geteuid()) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

CASE(file_share, files_that_the_kernel_protects)
{
	struct place *p = place_of(01777, 0, "share=all&keep_file=on");

	protected_regular = 1;
	is_shared(p, ALICE, BOB);
}
