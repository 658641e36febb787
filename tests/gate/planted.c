/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures of each sort, for tests/gate/test_gate.py, which picks some of these
 * cases.  Where one passes when it is repeated, a file of $PLANTED_DIR says
 * that it has failed before.
 */
#include <assert.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int is_first_time(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("PLANTED_DIR"), name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

Test(planted, good)
{
}

Test(planted, good_too)
{
}

Test(planted, skipped)
{
	cr_skip_test("it cannot be tested here");
}

Test(planted, late_1)
{
	cr_assert(!is_first_time("late_1"), "took 700 ms, of 500");
}

Test(planted, late_2)
{
	cr_assert(!is_first_time("late_2"), "took 700 ms, of 500");
}

Test(planted, late_3)
{
	cr_assert(!is_first_time("late_3"), "took 700 ms, of 500");
}

Test(planted, late_4)
{
	cr_assert(!is_first_time("late_4"), "no time was left to ask");
}

Test(planted, late_each_time)
{
	cr_assert(0, "took 900 ms, of 500");
}

Test(planted, hangs_once)
{
	if (is_first_time("hang"))
		hang();
}

Test(planted, overlaps_once)
{
	cr_assert(!is_first_time("overlap"),
		  "arena->overlaps == 0: 1 against 0");
}

Test(planted, falls_once)
{
	cr_assert(!is_first_time("token"), "dlock_token(h) > last");
}

Test(planted, leaves_once)
{
	cr_assert(!is_first_time("leak"), "left behind: 3 threads (were 2)");
}

/* 0.8 s of processor time. */
Test(planted, computes)
{
	while (clock() < 8 * (CLOCKS_PER_SEC / 10))
		continue;
}

Test(planted, crashes_once)
{
	if (is_first_time("crash"))
		abort();
}

Test(planted, asserts_once)
{
	assert(!is_first_time("assertion"));
}
