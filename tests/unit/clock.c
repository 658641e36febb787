/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/clock.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define SECOND INT64_C(1000000000)

static dlk_time fake_now;

static dlk_time fake_clock(void)
{
	return fake_now;
}

static dlk_time kernel(clockid_t id)
{
	struct timespec ts;

	cr_assert_eq(clock_gettime(id, &ts), 0);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

Test(clock, now_is_the_boot_time)
{
	for (int i = 0; i < 1000; i++) {
		dlk_time before = kernel(CLOCK_BOOTTIME);
		dlk_time now = dlk_now();

		cr_assert_leq(before, now);
		cr_assert_leq(now, kernel(CLOCK_BOOTTIME));
	}
}

/* Compares the clocks in a new time namespace, with the boot a day back. */
static int day_older(void)
{
	static const char offset[] = "boottime 86400 0\n";
	int fd, status = -1;
	pid_t child;

	if (unshare(CLONE_NEWTIME) < 0)
		return -1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, offset, strlen(offset)) < 0)
		return -1;
	close(fd);
	child = fork();
	if (child == 0)
		_exit(dlk_now() - kernel(CLOCK_MONOTONIC) < 80000 * SECOND);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	return status;
}

Test(clock, counts_what_only_the_boot_time_counts)
{
	int status = day_older();

	if (status < 0)
		cr_skip_test("needs a time namespace");
	cr_expect_eq(status, 0);
}

Test(clock, another_clock_can_be_put_behind_it)
{
	dlki_clock = fake_clock;
	fake_now = 42;
	cr_expect_eq(dlk_now(), 42);
	cr_expect_eq(dlki_deadline(3), 42 + 3 * DLK_MS);
	cr_expect_eq(dlki_deadline(0), 42);
	cr_expect_eq(dlki_deadline(-1), DLK_FOREVER);
	cr_expect_eq(dlki_deadline(INT64_MIN), DLK_FOREVER);
	cr_expect_eq(dlki_deadline(INT64_MAX), DLK_FOREVER);
	fake_now = DLK_FOREVER;
	cr_expect_eq(dlki_deadline(0), DLK_FOREVER);
}

Test(clock, adding_saturates)
{
	static const struct {
		dlk_time t;
		int64_t ms;
		dlk_time sum;
	} cases[] = {
		{ 0, 0, 0 },
		{ 5, 1, 5 + DLK_MS },
		{ 5 * DLK_MS, -2, 3 * DLK_MS },
		{ DLK_FOREVER, 0, DLK_FOREVER },
		{ DLK_FOREVER, -1000, DLK_FOREVER },
		{ DLK_FOREVER - 1, 1, DLK_FOREVER },
		{ 0, INT64_MAX, DLK_FOREVER },
		{ 0, INT64_MAX / DLK_MS, INT64_MAX / DLK_MS * DLK_MS },
		{ 0, INT64_MAX / DLK_MS + 1, DLK_FOREVER },
		{ DLK_MS, INT64_MAX / DLK_MS, DLK_FOREVER },
		{ 0, INT64_C(1) << 31, (INT64_C(1) << 31) * DLK_MS },
		{ 0, INT64_C(1) << 32, (INT64_C(1) << 32) * DLK_MS },
		{ 0, INT64_C(1) << 53, DLK_FOREVER },
		{ 0, INT64_MIN, INT64_MIN },
		{ INT64_MIN, -1, INT64_MIN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(dlki_after_ms(cases[i].t, cases[i].ms),
			     cases[i].sum, "case %zu", i);
}

Test(clock, time_left_is_rounded_down_and_never_negative)
{
	static const struct {
		dlk_time now, t;
		int64_t ms;
	} cases[] = {
		{ 0, 0, 0 },
		{ 0, DLK_MS - 1, 0 },
		{ 0, DLK_MS, 1 },
		{ 1, DLK_MS, 0 },
		{ 7, 7 + 5 * DLK_MS + 3, 5 },
		{ 10, 9, 0 },
		{ DLK_FOREVER, 0, 0 },
		{ DLK_FOREVER, DLK_FOREVER, 0 },
		{ 0, DLK_FOREVER, INT64_MAX / DLK_MS },
		{ INT64_MIN, DLK_FOREVER, INT64_MAX / DLK_MS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(dlki_ms_until(cases[i].now, cases[i].t),
			     cases[i].ms, "case %zu", i);
}
