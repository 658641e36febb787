/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

int64_t lab_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int64_t lab_after_ms(int64_t ms)
{
	return lab_now() + ms * LAB_MS;
}

int lab_poll_ms(int64_t deadline)
{
	int64_t ms;

	if (deadline == LAB_FOREVER)
		return -1;
	ms = (deadline - lab_now() + LAB_MS - 1) / LAB_MS;
	if (ms < 0)
		return 0;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

void lab_nap_until(int64_t at)
{
	const struct timespec ts = { at / (1000 * LAB_MS),
				     (long)(at % (1000 * LAB_MS)) };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

void lab_nap_ms(int64_t ms)
{
	lab_nap_until(lab_after_ms(ms));
}

int lab_wait_until(int64_t deadline, int (*ready)(void *arg), void *arg)
{
	int64_t nap = 1;
	int answer;

	for (;;) {
		answer = ready(arg);
		if (answer || lab_now() >= deadline)
			return answer;
		lab_nap_ms(nap);
		if (nap < 10)
			nap++;
	}
}
