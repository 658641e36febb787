/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls took too long, told from histories made by hand. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "support/temp.h"

static struct chaos c;
static int file;

/* The reader takes file after file: a record behind another process' records
 * might as well stand in the next file. */
static void set_up(void)
{
	char path[PATH_MAX + 16];

	c.o.ask_ms = 100;
	c.o.slack_ms = 100;
	cr_assert_eq(temp_make(c.dir), 0);
	snprintf(path, sizeof(path), "%s/1.history", c.dir);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(file, 0);
}

static void tear_down(void)
{
	close(file);
	temp_remove(c.dir);
}

TestSuite(deadline, .init = set_up, .fini = tear_down, .timeout = 60);

static void write_record(enum lab_what what, uint32_t pid, unsigned number,
			 int64_t at_ms, int64_t value)
{
	struct lab_record r = { .what = (uint8_t)what,
				.op = (uint64_t)pid << 32 | number,
				.at = at_ms * LAB_MS,
				.value = value,
				.pid = pid,
				.tid = pid + number };

	cr_assert_eq(write(file, &r, sizeof(r)), sizeof(r));
}

static void expect(int64_t overruns, int64_t longest_ms)
{
	int64_t longest = 0;

	cr_expect_eq(chaos_overruns(&c, &longest), overruns, "%s",
		     lab_errmsg());
	cr_expect_eq(longest, longest_ms * LAB_MS, "%.3f ms",
		     (double)longest / 1e6);
}

Test(deadline, a_call_answered_in_time_is_none)
{
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_record(LAB_ACQUIRED, 7, 1, 1110, 0);
	expect(0, 0);
}

Test(deadline, a_late_answer_is_found_among_others)
{
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_record(LAB_ACQUIRE, 7, 2, 1001, 10);
	write_record(LAB_ACQUIRED, 7, 2, 1002, 0);
	write_record(LAB_ACQUIRED, 7, 1, 61110, 0);
	expect(1, 60000);
}

Test(deadline, who_stood_still_is_not_late)
{
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_record(LAB_ACQUIRED, 7, 1, 61110, 0);
	write_record(LAB_PAUSED, 8, 0, 1050, 7);
	write_record(LAB_RESUMED, 8, 0, 61000, 7);
	expect(0, 0);
}

static void write_async(uint32_t pid, unsigned number)
{
	struct lab_record r = { .what = LAB_NOTE, .pid = pid };

	snprintf(r.name, sizeof(r.name), CHAOS_ASYNC_NOTE,
		 (uint64_t)pid << 32 | number);
	cr_assert_eq(write(file, &r, sizeof(r)), sizeof(r));
}

/* The store may have kept another call waiting for as long. */
Test(deadline, an_asynchronous_call_may_take_the_ask_time_twice)
{
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_record(LAB_ACQUIRE, 7, 2, 1000, 10);
	write_async(7, 2);
	write_record(LAB_ACQUIRED, 7, 2, 1310, 0);
	expect(0, 100);
	write_record(LAB_ACQUIRED, 7, 1, 1311, 0);
	expect(1, 201);
}

Test(deadline, an_asynchronous_call_may_be_late_as_well)
{
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_async(7, 1);
	write_record(LAB_ACQUIRED, 7, 1, 1311, 0);
	expect(1, 101);
}

/* The process was killed while all threads had calls under way. */
Test(deadline, the_calls_of_the_killed_hide_no_others)
{
	for (unsigned i = 1; i <= CHAOS_THREADS; i++)
		write_record(LAB_ACQUIRE, 6, i, 500000 + i, 10);
	write_record(LAB_ACQUIRE, 7, 1, 1000, 10);
	write_record(LAB_ACQUIRE, 7, 2, 1001, 10);
	write_record(LAB_ACQUIRED, 7, 2, 1002, 0);
	write_record(LAB_ACQUIRED, 7, 1, 61110, 0);
	expect(1, 60000);
}
