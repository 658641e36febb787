/* SPDX-License-Identifier: Apache-2.0 */
/* The log says once that the store does without inotify. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

TestSuite(file_log, .timeout = 120);

static void count_line(const struct dlock_log_line *line, void *told)
{
	if (strstr(line->text, "waiters poll every 50ms"))
		atomic_fetch_add((atomic_int *)told, 1);
}

static void use(dlock_client *c, const char *name)
{
	dlock_lock *l = mutex(c, name);

	CHECK_OK(dlock_release(take(l, patience_ms())));
	end_now(l);
}

/* No watch of the second and third file succeeds. */
static void says_so_once(int watch_fails)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	char uri[PATH_MAX + 16];
	atomic_int told = 0;

	snprintf(uri, sizeof(uri), "file://%s", store_dir());
	o.on_log = count_line;
	o.arg = &told;
	CHECK_OK(dlock_open(&c, uri, &o));
	use(c, "x");
	fail_watch = watch_fails;
	use(c, "y");
	use(c, "z");
	dlock_close(c);
	CHECK_INT(told, ==, 1);
}

CASE(file_log, of_no_inotify_says_so_once)
{
	fail_inotify = EMFILE;
	says_so_once(0);
}

CASE(file_log, of_no_watch_says_so_once)
{
	says_so_once(ENOSPC);
}
