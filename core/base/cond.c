/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend.h>

#include <time.h>

#include "core/base/clock.h"
#include "core/base/due.h"

void dlk_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

void dlk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu, dlk_time until)
{
	struct timespec ts;
	dlk_time left;

	dlki_due_flush();
	left = dlki_sleep_ns(until);
	if (left <= 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	left += ts.tv_nsec;
	ts.tv_sec += left / 1000000000;
	ts.tv_nsec = left % 1000000000;
	pthread_cond_timedwait(cond, mu, &ts);
}
