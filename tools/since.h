/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Since when a participant holds its lock.
 *
 * No store says so, but the tokens of most follow the time in microseconds
 * since 1970.  A token that is no plausible time of the past says nothing.
 */
#ifndef DLOCK_TOOLS_SINCE_H
#define DLOCK_TOOLS_SINCE_H

#include <stdint.h>

#define SINCE_SIZE 40

/* Milliseconds since 1970; 0: not known. */
int64_t since_token(uint64_t token);

/* "2026-11-22 21:53:01", local time.  "-" if not known. */
void since_local(char out[SINCE_SIZE], int64_t since_ms);

/* "2026-11-22T21:53:01.250Z". */
void since_utc(char out[SINCE_SIZE], int64_t since_ms);

/* "12 s", "12 min", "12 h" or "12 d": the time from then to now. */
void since_age(char out[SINCE_SIZE], int64_t since_ms);

#endif
