/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and durations on the command line.  All of the text must be the
 * number; signs, blanks and exponents are refused.
 */
#ifndef DLOCK_TOOLS_NUMBER_H
#define DLOCK_TOOLS_NUMBER_H

#include <stdint.h>

/* Parse "1.5", "1.5s", "250ms", "2m" or "1h" to milliseconds, rounded up; a
 * number without a unit is seconds, as in a URI.  0 if the text is no such
 * time. */
int parse_duration(const char *text, int64_t *out_ms);

/* Parse a decimal number from `least` to `most`; 0 if the text is no such
 * number. */
int parse_number(const char *text, uint32_t least, uint32_t most,
		 uint32_t *out);

#endif
