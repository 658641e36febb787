/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: dlk_time, nanoseconds of CLOCK_BOOTTIME, and the clock.
 *
 * Leases and deadlines count on the boot-time clock, which goes on while the
 * machine is suspended and is not stepped.  Tests put another clock behind
 * dlki_clock before opening a client.
 */
#ifndef DLOCK_CORE_BASE_CLOCK_H
#define DLOCK_CORE_BASE_CLOCK_H

#include <dlock/backend.h>

extern dlk_time (*dlki_clock)(void);

/* Return t + ms milliseconds; DLK_FOREVER stays, and is the greatest result. */
dlk_time dlki_after_ms(dlk_time t, int64_t ms);

/* Return the deadline of a timeout_ms counted from now: < 0 is DLK_FOREVER. */
dlk_time dlki_deadline(int64_t timeout_ms);

/* A sleep does not notice a suspension of the machine, which the boot-time
 * clock counts: a sleeping thread looks at the clock this often.  Returns how
 * long to sleep now, <= 0 if `until` has come. */
#define DLKI_SLICE_NS (5000 * DLK_MS)
dlk_time dlki_sleep_ns(dlk_time until);

/* Return whole milliseconds from `now` to `t`, rounded down, at least 0. */
int64_t dlki_ms_until(dlk_time now, dlk_time t);

#endif
