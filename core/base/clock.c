/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/clock.h"

#include <time.h>

/* Read the boot-time clock.  Without a clock no lease may be valid: at the end
 * of time every lease has run out and every deadline has passed. */
static dlk_time boot_time(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_BOOTTIME, &ts) < 0)
		return DLK_FOREVER;
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

dlk_time (*dlki_clock)(void) = boot_time;

dlk_time dlk_now(void)
{
	return dlki_clock();
}

dlk_time dlki_after_ms(dlk_time t, int64_t ms)
{
	int64_t ns, sum;

	if (t == DLK_FOREVER)
		return DLK_FOREVER;
	if (__builtin_mul_overflow(ms, DLK_MS, &ns) ||
	    __builtin_add_overflow(t, ns, &sum))
		return ms < 0 ? INT64_MIN : DLK_FOREVER;
	return sum;
}

dlk_time dlki_deadline(int64_t timeout_ms)
{
	if (timeout_ms < 0)
		return DLK_FOREVER;
	return dlki_after_ms(dlk_now(), timeout_ms);
}

dlk_time dlki_sleep_ns(dlk_time until)
{
	dlk_time left = until == DLK_FOREVER ? DLKI_SLICE_NS :
					       until - dlk_now();

	return left < DLKI_SLICE_NS ? left : DLKI_SLICE_NS;
}

int64_t dlki_ms_until(dlk_time now, dlk_time t)
{
	int64_t ns;

	if (t <= now)
		return 0;
	if (__builtin_sub_overflow(t, now, &ns))
		ns = INT64_MAX;
	return ns / DLK_MS;
}
