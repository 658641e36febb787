/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder and the guarded resource. */
#include "temp.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/history/check.h"
#include "lab/history/history.h"
#include "lab/history/resource.h"

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[PATH_MAX];

static void set_up(void)
{
	cr_assert_eq(temp_make(dir), 0);
}

static void tear_down(void)
{
	temp_remove(dir);
}

TestSuite(history, .init = set_up, .fini = tear_down, .timeout = 120);

static struct lab_history *begin(void)
{
	struct lab_history *h = lab_history_open(dir);

	cr_assert(h, "%s", lab_errmsg());
	return h;
}

Test(history, what_is_recorded_is_loaded)
{
	struct lab_written w = { true, 3, 4 };
	struct lab_history *h = begin();
	struct lab_record *r;
	int64_t before = lab_now();
	uint64_t op = lab_history_acquire(h, "some/name", LAB_PERMIT, 7, 1500);
	char text[300];
	size_t n;

	lab_history_acquired(h, op, 0, 99, before + 5);
	lab_history_until(h, op, before + 6);
	lab_history_checked(h, op, before + 1, DLOCK_ELOST);
	lab_history_lost(h, op);
	lab_history_release(h, op, 0);
	lab_history_released(h, op, DLOCK_ELOST);
	lab_history_wrote(h, op, "some/name", 99, &w);
	lab_history_process(h, LAB_KILLED, 1234);
	lab_history_wiped(h, "", before, true);
	lab_history_left(h, "some/name", 2);
	lab_history_note(h, "seed %d", 42);
	cr_expect_neq(lab_history_acquire(h, "x", LAB_MUTEX, 0, 0), op);
	cr_assert_eq(lab_history_close(h), 0);

	cr_assert_eq(lab_history_load(dir, &r, &n), 0, "%s", lab_errmsg());
	cr_assert_eq(n, 13);
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(r[i].pid, (uint32_t)getpid());
		cr_expect_geq(r[i].at, before);
		cr_expect_eq(r[i].op, i < 8 ? op : i < 12 ? 0 : op + 1);
	}
	cr_expect_eq(r[0].what, LAB_ACQUIRE);
	cr_expect_eq(r[0].mode, LAB_PERMIT);
	cr_expect_eq(r[0].limit, 7);
	cr_expect_eq(r[0].value, 1500);
	cr_expect_str_eq(r[0].name, "some/name");
	cr_expect_eq(r[1].token, 99);
	cr_expect_eq(r[1].until, before + 5);
	cr_expect_eq(r[3].at, before + 1);
	cr_expect_eq(r[6].rc, DLOCK_ELOST);
	cr_expect_eq(r[7].rc, 1);
	cr_expect_eq(r[7].value, 3);
	cr_expect_eq(r[7].until, 4);
	cr_expect_eq(r[9].value, before);
	cr_expect_str_eq(r[11].name, "seed 42");
	lab_record_print(&r[0], text, sizeof(text));
	cr_expect(strstr(text, "acquire permit 'some/name'"), "%s", text);
	free(r);
}

Test(history, the_end_of_a_lease)
{
	cr_expect_eq(lab_until(100, -1), LAB_FOREVER);
	cr_expect_eq(lab_until(100, 0), 0);
	cr_expect_eq(lab_until(100, 3), 100 + 3 * LAB_MS);
}

Test(history, long_names_are_cut_and_the_rest_left_alone)
{
	char name[300];
	struct lab_history *h = begin();
	struct lab_record *r;
	size_t n;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	lab_history_acquire(h, name, LAB_MUTEX, 0, -1);
	lab_history_note(h, "%s", name);
	lab_history_close(h);
	cr_assert_eq(lab_history_load(dir, &r, &n), 0);
	cr_expect_eq(n, 2);
	cr_expect_eq(strlen(r[0].name), LAB_NAME - 3);
	cr_expect_eq(strlen(r[1].name), LAB_NAME - 3);
	free(r);
}

Test(history, a_record_that_is_not_whole_is_left_out)
{
	struct lab_history *h = begin();
	char path[PATH_MAX + 32];
	struct lab_record *r;
	struct stat st;
	size_t n;

	for (int i = 0; i < 3; i++)
		lab_history_note(h, "%d", i);
	lab_history_close(h);
	snprintf(path, sizeof(path), "%s/%d.history", dir, (int)getpid());
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq((size_t)st.st_size, 3 * sizeof(*r));
	cr_assert_eq(truncate(path, st.st_size - 1), 0);
	cr_assert_eq(lab_history_load(dir, &r, &n), 0);
	cr_expect_eq(n, 2);
	free(r);
}

Test(history, failures_are_told)
{
	struct lab_record *r;
	struct lab_verdict v;
	size_t n;

	cr_expect_null(lab_history_open("/no/such/directory"));
	cr_expect(strstr(lab_errmsg(), "/no/such/directory"));
	cr_expect_lt(lab_history_load("/no/such/directory", &r, &n), 0);
	cr_expect_lt(lab_check_dir("/no/such/directory", NULL, &v), 0);
	cr_expect_null(lab_resource_open("/no/such/directory", "x"));
	cr_expect_eq(lab_history_close(NULL), 0);
	lab_resource_close(NULL);
}

Test(history, the_resource_refuses_smaller_tokens)
{
	struct lab_resource *r = lab_resource_open(dir, "a/b c");
	struct lab_resource *again = lab_resource_open(dir, "a/b c");
	struct lab_resource *other = lab_resource_open(dir, "a/b d");
	struct lab_written w;

	cr_assert(r && again && other, "%s", lab_errmsg());
	cr_assert_eq(lab_resource_write(r, 5, &w), 0);
	cr_expect(w.accepted && w.place == 0 && w.largest == 0);
	cr_assert_eq(lab_resource_write(again, 5, &w), 0);
	cr_expect(w.accepted && w.place == 1 && w.largest == 5);
	cr_assert_eq(lab_resource_write(r, 4, &w), 0);
	cr_expect(!w.accepted && w.place == 2 && w.largest == 5);
	cr_assert_eq(lab_resource_write(other, 4, &w), 0);
	cr_expect(w.accepted && w.place == 0);
	cr_expect_eq(lab_resource_refused(again), 1);
	lab_resource_close(r);
	lab_resource_close(again);
	lab_resource_close(other);
}
