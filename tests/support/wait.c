/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifdef SANITIZED /* set by CMake, for the processes under test */
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) ||         \
	__has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

void nap_us(int64_t us)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	us += ts.tv_nsec / 1000;
	ts.tv_sec += us / 1000000;
	ts.tv_nsec = ts.tv_nsec % 1000 + us % 1000000 * 1000;
	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		continue;
}

void nap_ms(int64_t ms)
{
	nap_us(ms * 1000);
}

static int64_t told_slowness(void)
{
	const char *text = getenv("DLOCK_TEST_SLOW");
	long n = text ? strtol(text, NULL, 10) : 1;

	return n < 1 || n > 100 ? 1 : n;
}

int64_t slowness(void)
{
	return SANITIZED ? 3 * told_slowness() : told_slowness();
}

int64_t patience_ms(void)
{
	return 10000 * slowness();
}

int64_t slack_ms(void)
{
	return 250 * slowness();
}

int64_t grace_ms(void)
{
	return 250 * (told_slowness() - 1);
}

int sanitized(void)
{
	return SANITIZED;
}
