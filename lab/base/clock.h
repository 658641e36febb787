/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lab's clock: nanoseconds of CLOCK_BOOTTIME, as the library counts leases.
 * All processes of a host see the same clock, so histories can be merged.
 */
#ifndef DLOCK_LAB_CLOCK_H
#define DLOCK_LAB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_MS INT64_C(1000000)
#define LAB_FOREVER INT64_MAX

int64_t lab_now(void);

/* Now and `ms` milliseconds. */
int64_t lab_after_ms(int64_t ms);

/* Convert `deadline` to milliseconds for poll(2): rounded up, 0 if the deadline
 * is over, -1 for LAB_FOREVER. */
int lab_poll_ms(int64_t deadline);

void lab_nap_until(int64_t at);
void lab_nap_ms(int64_t ms);

/*
 * Call `ready` until the answer is not 0, or until `deadline`; often at first,
 * less often later.  Returns the last answer of `ready`: 0 is too late.
 */
int lab_wait_until(int64_t deadline, int (*ready)(void *arg), void *arg);

#endif
