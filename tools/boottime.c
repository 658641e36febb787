/* SPDX-License-Identifier: Apache-2.0 */
#include "boottime.h"

#include <sys/timerfd.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

int64_t boottime_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

int boottime_open(void)
{
	return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

void boottime_arm(int timer, int64_t when)
{
	struct itimerspec at = { 0 };

	if (when != INT64_MAX) {
		/* All zeroes would disarm the timer. */
		if (when < 1)
			when = 1;
		at.it_value.tv_sec = when / SECOND;
		at.it_value.tv_nsec = when % SECOND;
	}
	timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}
