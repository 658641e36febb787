/* SPDX-License-Identifier: Apache-2.0 */
/* What is flushed to the disk with sync=on. */
#include "support.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>

CASE(file_sync, to_the_disk_if_wished)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, "sync=on&keep_file=on");
	dlock_lock *l = mutex(c, "x");
	uint64_t last = token_after(token_after(0, l), l);

	end_now(l);
	end_now(c);
	c = store_open(dir, "keep_file=on");
	token_after(last, mutex(c, "x"));
}

/* After a power failure, without the flush of the directory, the old file could
 * be back. */
CASE(file_sync, with_a_file_put_in_place_by_another_client)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, "sync=on");
	dlock_client *d = store_open(dir, NULL);
	dlock_lock *lc = mutex(c, "x"), *ld = mutex(d, "x");
	int before;

	CHECK_OK(dlock_release(take(lc, 0)));
	CHECK_INT(fsyncs, >, 0);
	CHECK_OK(dlock_break(ld, FOREVER));
	before = fsyncs;
	CHECK_OK(dlock_release(take(lc, 0)));
	CHECK_INT(fsyncs, ==, before + 1);
	CHECK_OK(dlock_release(take(lc, 0)));
	CHECK_INT(fsyncs, ==, before + 1);
}

CASE(file_sync, with_the_parent_of_the_directory)
{
	char sub[PATH_MAX];

	CHECK(snprintf(sub, sizeof(sub), "%s/a", store_dir()) < PATH_MAX);
	store_open(sub, "sync=on");
	CHECK_INT(fsyncs, ==, 1);
}

CASE(file_sync, before_a_break_puts_the_file_in_place)
{
	dlock_client *c = store_open(store_dir(), "sync=on");

	token_after(0, mutex(c, "x"));
	CHECK_INT(fdatasyncs, ==, 1);
	CHECK_OK(dlock_break(mutex(c, "x"), FOREVER));
	CHECK_INT(fdatasyncs, >, 1);
}
