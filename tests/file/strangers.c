/* SPDX-License-Identifier: Apache-2.0 */
/* Users without a share of the lock, and files and directories that do not fit
 * a share. */
#include "place.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/state.h"
#include "support/hold.h"

static void refused(struct place *p, uid_t uid, const char *query,
		    const char *text)
{
	says(p, query, text);
	as(uid, be_refused, p);
}

/* A run leaves no file behind that would refuse the next user. */
CASE(file_strangers, users_in_turn_each_with_a_lock_of_their_own)
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

CASE(file_strangers, another_users_own_lock_refuses_with_the_cure)
{
	struct place *p = place_of(01777, 0, "keep_file=on");

	as(ALICE, use, p);
	file_is(p, 0600, ALICE);
	refused(p, BOB, "share=user",
		"belongs to user 61001, not to us (61002)");
	refused(p, 0, p->query, "belongs to user 61001, not to us (0)");
	refused(p, BOB, p->query, "'dlock.lnx'");
	refused(p, BOB, p->query, "share=group or share=all");
	/* BOB cannot change the mode of ALICE's file. */
	CHECK(chmod(store_file(p->dir, "l", "x"), 0644) == 0);
	as(BOB, be_refused, p);
}

/* ---- Misfits ------------------------------------------------------------- */

CASE(file_strangers, two_shares_of_one_lock_are_named)
{
	struct place *p = place_of(01777, 0, "share=user&keep_file=on");

	as(ALICE, use, p);
	refused(p, ALICE, "share=all",
		"'dlock.lnx' of user 61001 is for share=user (mode "
		"0600), and we have share=all");
	as(BOB, be_refused, p);
	as(0, be_refused, p);
	CHECK(unlink(store_file(p->dir, "l", "x")) == 0);
	says(p, "share=all&keep_file=on", NULL);
	as(ALICE, use, p);
	refused(p, ALICE, "share=user",
		"of user 61001 is for share=all (mode 0666), and we have "
		"share=user");
	as(BOB, be_refused, p);
	CHECK(chown(p->dir, 0, CREW) == 0 && chmod(p->dir, 03770) == 0);
	refused(p, BOB, "share=group",
		"is for share=all (mode 0666), and we have share=group");
}

CASE(file_strangers, a_file_that_does_not_fit_the_share)
{
	struct place *p = place_of(02770, CREW, "share=group&keep_file=on");
	const char *file = store_file(p->dir, "l", "x");

	as(ALICE, use, p);
	CHECK(chmod(file, 0664) == 0);
	refused(p, BOB, p->query, "user 61001 has mode 0664: chmod it to 0660");
	CHECK(chmod(file, 0660) == 0 && chown(file, ALICE, ALICE) == 0);
	refused(p, 0, p->query,
		"user 61001 has group 61001, and the directory 62000");
	CHECK(unlink(file) == 0);
	CHECK(symlink("/etc/passwd", file) == 0);
	refused(p, BOB, p->query, "symbolic link");
}

CASE(file_strangers, a_directory_that_does_not_fit_the_share)
{
	struct place *p = place_of(0755, CREW, NULL);

	refused(p, ALICE, "share=all", "(mode 0755) is not one for all users");
	refused(p, ALICE, "share=group",
		"(mode 0755) is not open to its group 62000");
	CHECK(chmod(p->dir, 01777) == 0);
	refused(p, ALICE, p->query,
		"chmod o-w it for share=group, or use share=all");
	CHECK(chmod(p->dir, 0777) == 0);
	refused(p, ALICE, "share=all", "chmod it to 1777");
	CHECK(chmod(p->dir, 02775) == 0);
	refused(p, STRANGER, "share=group",
		"is for group 62000, and we (user 61003) are not in it");
	CHECK(chmod(p->dir, 02770) == 0);
	refused(p, STRANGER, p->query,
		"(mode 2770) is closed to us (user 61003)");
	/* Only a share trusts another user's directory. */
	CHECK(chown(p->dir, BOB, CREW) == 0 && chmod(p->dir, 02770) == 0);
	refused(p, ALICE, "share=user",
		"belongs to user 61002, not to us (61001)");
	says(p, "share=group", NULL);
	as(ALICE, use, p);
	as(BOB, use, p);
}

/* ---- Forgeries ----------------------------------------------------------- */

static void forge_labels(struct place *p)
{
	int fd = open(store_file(p->dir, "l", "x"), O_RDWR | O_CLOEXEC);
	struct file_participant waiter = { .session = 1, .ticket = 1 };
	struct file_header h;
	struct file_state st;

	CHECK(fd >= 0);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	memset(st.label, 'A', sizeof(st.label));
	CHECK(dlki_file_store(fd, &st) == 0);
	memset(waiter.label, 'A', sizeof(waiter.label));
	CHECK(dlki_file_participant_store(fd, FILE_HOLDER_SLOTS, &waiter) == 0);
	CHECK(dlki_file_lock(fd, F_WRLCK, FILE_MAIN) == 1);
	CHECK(dlki_file_lock(fd, F_WRLCK, FILE_WAITERS) == 1);
	p->held = 1;
	EVENTUALLY(p->stop);
}

static void check_label(const struct dlock_participant *who, void *arg)
{
	CHECK_INT(strnlen(who->label, 2 * FILE_LABEL_SIZE), <, FILE_LABEL_SIZE);
	*(int *)arg += 1;
}

/* A record with an unterminated text does not count. */
CASE(file_strangers, a_forged_label_ends_within_the_record)
{
	struct place *p = place_of(01777, 0, "share=all&keep_file=on");
	dlock_client *c;
	pid_t forger;
	int n = 0;

	as(ALICE, use, p);
	forger = start_as(BOB, forge_labels, p);
	EVENTUALLY(p->held);
	c = store_open(p->dir, p->query);
	CHECK_OK(dlock_inspect(mutex(c, "x"), check_label, &n, patience_ms()));
	CHECK_INT(n, ==, 1);
	p->stop = 1;
	child_ended(forger);
}

static void forge_name(struct place *p)
{
	int fd = open(store_file(p->dir, "l", "x"), O_RDWR | O_CLOEXEC);
	struct file_state st = { 0 };

	CHECK(fd >= 0);
	CHECK(dlki_file_format(fd, DLK_LOCK, "a\nb", &st) == 0);
	close(fd);
}

CASE(file_strangers, a_forged_name_is_not_listed)
{
	struct place *p = place_of(01777, 0, "share=all&keep_file=on");
	dlock_client *c;
	int n = 0;

	as(ALICE, use, p);
	c = store_open(p->dir, p->query);
	CHECK_OK(dlock_list(c, count_entry, &n, patience_ms()));
	CHECK_INT(n, ==, 1);
	as(BOB, forge_name, p);
	CHECK_OK(dlock_list(c, count_entry, &n, patience_ms()));
	CHECK_INT(n, ==, 1);
}

/* Remove the floor, not the lock's file. */
static void forge_floor(struct place *p)
{
	uint64_t floor[2] = { UINT64_C(1) << 62, ~(UINT64_C(1) << 62) };
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/dlock.~floor", p->dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, floor, sizeof(floor)) == sizeof(floor));
	close(fd);
}

static void find_it_used_up(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);
	dlock_hold *h;

	CHECK_RC(dlock_acquire(mutex(c, "x"), 0, &h), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), p->text);
}

CASE(file_strangers, a_forged_floor_is_named)
{
	struct place *p = place_of(02770, CREW, "share=group");

	as(ALICE, use, p);
	as(BOB, forge_floor, p);
	p->text = "'dlock.~floor' has no tokens left: remove it";
	as(ALICE, find_it_used_up, p);
}

/* ---- Breaking ------------------------------------------------------------ */

static void break_it(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);

	CHECK_OK(dlock_break(mutex(c, "x"), patience_ms()));
}

static void fail_to_break(struct place *p)
{
	dlock_client *c = store_open(p->dir, p->query);

	CHECK_RC(dlock_break(mutex(c, "x"), patience_ms()), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), p->text);
}

CASE(file_strangers, who_may_break_a_lock_of_all)
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

CASE(file_strangers, a_member_may_break_where_no_sticky_bit_is)
{
	struct place *p = place_of(02770, CREW, "share=group&keep_file=on");

	as(ALICE, use, p);
	as(BOB, break_it, p);
	file_is(p, 0660, BOB);
	as(ALICE, use, p);
}
