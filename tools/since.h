/* SPDX-License-Identifier: Apache-2.0 */
/* Since when a participant has held the lock, in words. */
#ifndef DLOCK_TOOLS_SINCE_H
#define DLOCK_TOOLS_SINCE_H

#include <stdint.h>

#define SINCE_SIZE 40

/* Return `since_ms`, or 0, unknown, for an implausible time: a store's clock
 * may be wrong by any amount. */
int64_t since_plausible(int64_t since_ms);

/* "2026-11-22 21:53:01", local time.  "-" if not known. */
void since_local(char out[SINCE_SIZE], int64_t since_ms);

/* "2026-11-22T21:53:01.250Z". */
void since_utc(char out[SINCE_SIZE], int64_t since_ms);

/* The time from then to now; 0 if the store's clock is ahead of ours. */
int64_t since_age_ms(int64_t since_ms);

/* "12 s", "12 min", "12 h" or "12 d": likewise. */
void since_age(char out[SINCE_SIZE], int64_t since_ms);

#endif
