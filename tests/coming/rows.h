/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of docs/coming-from.md that are in C or for the shell.  Each row of
 * the page ends with the name of one of these functions, which does what its
 * second column says; page.c runs them.
 */
#ifndef DLOCK_TESTS_COMING_ROWS_H
#define DLOCK_TESTS_COMING_ROWS_H

#include <criterion/criterion.h>
#include <dlock/async.h>

/* Two programs of one store, and a name. */
struct coming {
	dlock_client *client, *other;
	dlock_lock *lock, *theirs; /* mutexes of the name */
	char name[80];
};

struct coming_row {
	const char *name;
	void (*run)(struct coming *t);
};

/* A table of each library, which ends with a NULL. */
extern const struct coming_row curator_rows[], redisson_rows[], redsync_rows[],
	distributedlock_rows[], flock_rows[];

#define ROW(name) static void name(struct coming *t)

#define OK(rc)                                                                 \
	do {                                                                   \
		int rc_ = (rc);                                                \
		cr_assert_eq(rc_, DLOCK_OK, "%s: %s (%s)", #rc,                \
			     dlock_errname(rc_), dlock_errmsg());              \
	} while (0)

#define IS(rc, code)                                                           \
	do {                                                                   \
		int rc_ = (rc);                                                \
		cr_assert_eq(rc_, (code), "%s: %s, not %s", #rc,               \
			     dlock_errname(rc_), dlock_errname(code));         \
	} while (0)

enum { LONG_MS = 20000 };

dlock_hold *coming_take(dlock_lock *lock);

#endif
