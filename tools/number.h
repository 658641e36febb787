/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers on the command line.  All of the text must be the number; signs,
 * blanks and exponents are refused.
 */
#ifndef DLOCK_TOOLS_NUMBER_H
#define DLOCK_TOOLS_NUMBER_H

#include <stdint.h>

/* "1.5" to 1500, rounded up to the next millisecond.  0 if it is no number of
 * seconds. */
int parse_seconds(const char *text, int64_t *out_ms);

/* A decimal number from `least` to `most`; 0 if it is none. */
int parse_number(const char *text, long least, long most, long *out);

#endif
