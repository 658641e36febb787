/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of docs/coming-from.md for C and the shell.  Each row of the page
 * ends with the name of a function, which does the calls of the second column;
 * page.c runs the functions.
 */
#ifndef DLOCK_TESTS_COMING_ROWS_H
#define DLOCK_TESTS_COMING_ROWS_H

#include <criterion/criterion.h>
#include <dlock/async.h>

/* Two programs on the same store, and a name. */
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
/* The other program holds the lock: an acquire is busy. */
void coming_busy(struct coming *t, int64_t timeout_ms);
/* Acquire a multi-lock of the lock and a second, which is `client`'s. */
void coming_both(struct coming *t, dlock_client *client);
/* Acquire without a waiting thread. */
void coming_async(struct coming *t, int64_t timeout_ms);

#endif
