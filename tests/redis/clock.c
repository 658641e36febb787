/* SPDX-License-Identifier: Apache-2.0 */
/* The client's clocks: set, or asleep with the machine. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TestSuite(redis_clock, .timeout = 120);

#define SECOND INT64_C(1000000000)
#define HOUR_MS INT64_C(3600000)

/* Offsets of the wall clock, and of the clock that counts sleep. */
static _Atomic int64_t wall_ms, boot_ms;

/* Replaces libc's in this program: the kernel's answer and the offset. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns;

	if (syscall(SYS_clock_gettime, id, ts) < 0)
		return -1;
	ns = ts->tv_sec * SECOND + ts->tv_nsec;
	if (id == CLOCK_BOOTTIME)
		ns += boot_ms * 1000000;
	else if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		ns += wall_ms * 1000000;
	ts->tv_sec = ns / SECOND;
	ts->tv_nsec = ns % SECOND;
	return 0;
}

static const int64_t steps[] = { HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS,
				 0 };
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static struct lab_server *server;
static struct diary diary = DIARY_INIT;
static dlock_client *c, *other;

static void set_up(const char *query)
{
	server = two_start(query, &diary, &c, &other);
}

CASE(redis_clock, that_is_set_takes_nothing_from_holders)
{
	dlock_hold *h, *permit, *none = NULL;
	dlock_lock *theirs, *s, *their_s;

	set_up("ttl=900ms");
	theirs = mutex(other, "x");
	s = semaphore(c, "s", 2);
	their_s = semaphore(other, "s", 2);
	h = take(mutex(c, "x"), 0);
	permit = take(their_s, 0);
	for (int i = 0; i < STEPS; i++) {
		dlock_hold *second;
		uint64_t renewed = stats(c).renewed;

		wall_ms = steps[i];
		second = take(s, 0);
		wall_ms = -steps[i];
		EVENTUALLY(stats(c).renewed >= renewed + 4);
		CHECK_OK(dlock_check(h));
		CHECK_OK(dlock_check(permit));
		CHECK_INT(dlock_remaining_ms(h), <=, 900);
		CHECK_RC(dlock_acquire(theirs, 0, &none), DLOCK_EBUSY);
		CHECK_RC(dlock_acquire(s, 0, &none), DLOCK_EBUSY);
		give(second);
	}
	CHECK_INT(diary.losses, ==, 0);
	CHECK(!diary_says(&diary, "clock"));
	give(permit);
	give(h);
}

/* The first call after the sleep knows. */
CASE(redis_clock, that_slept_past_the_lease_has_lost_it)
{
	dlock_lock *l;
	dlock_hold *h;
	uint64_t token;

	set_up("ttl=3s");
	l = mutex(c, "x");
	h = take(l, 0);
	token = dlock_token(h);
	boot_ms += 1000;
	CHECK_OK(dlock_check(h));
	CHECK_INT(dlock_remaining_ms(h), <=, 2000);
	EVENTUALLY(dlock_remaining_ms(h) > 2000);
	CHECK_OK(dlock_check(h));
	CHECK_INT(diary.losses, ==, 0);
	boot_ms += 3000;
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
	CHECK_INT(dlock_remaining_ms(h), ==, 0);
	EVENTUALLY(diary.losses == 1);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}
