/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alarms: functions to call at a time, in one heap.
 *
 * An alarm is only a reason to look.  The function derives from the state
 * whether anything is due, so an early, late or repeated call is harmless.  The
 * owner locks.
 */
#ifndef DLOCK_CORE_BASE_ALARM_H
#define DLOCK_CORE_BASE_ALARM_H

#include "core/base/heap.h"

struct dlki_alarm {
	struct dlki_timer timer;
	void (*ring)(struct dlki_alarm *a, dlk_time now);
};

struct dlki_alarms {
	struct dlki_heap heap;
	size_t reserved; /* alarms that have room in the heap */
};

/* Reserve room for `n` alarms more, or give it back: dlki_alarm_set() then
 * cannot fail.  0 or ENOMEM. */
int dlki_alarms_reserve(struct dlki_alarms *s, size_t n);
void dlki_alarms_unreserve(struct dlki_alarms *s, size_t n);
void dlki_alarms_destroy(struct dlki_alarms *s);

/* Ring at `at` and not before; DLK_FOREVER: never.  An alarm rings once; ring()
 * may set the alarm again. */
void dlki_alarm_set(struct dlki_alarms *s, struct dlki_alarm *a, dlk_time at);

/* Return the time of the first alarm, or DLK_FOREVER. */
dlk_time dlki_alarms_next(const struct dlki_alarms *s);

/* Ring each alarm that was due at `now` as the call began; return how many. */
size_t dlki_alarms_ring(struct dlki_alarms *s, dlk_time now);

#endif
