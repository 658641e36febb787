/* SPDX-License-Identifier: Apache-2.0 */
/* Users without the share of a lock, and files and directories that do not fit
 * a share. */
#include "place.h"

#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run leaves no file behind to refuse the next user. */
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

CASE(file_strangers, two_shares_of_one_lock_are_named)
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

CASE(file_strangers, a_file_that_does_not_fit_the_share)
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

CASE(file_strangers, a_directory_that_does_not_fit_the_share)
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
