/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/digits.h"

#include <string.h>

/* Two digits at a time: a division is the dearest part. */
size_t dlki_digits(char out[DLKI_DIGITS], uint64_t n)
{
	static const char pairs[] = "00010203040506070809"
				    "10111213141516171819"
				    "20212223242526272829"
				    "30313233343536373839"
				    "40414243444546474849"
				    "50515253545556575859"
				    "60616263646566676869"
				    "70717273747576777879"
				    "80818283848586878889"
				    "90919293949596979899";
	char digits[DLKI_DIGITS];
	size_t at = sizeof(digits) - 1;
	size_t len;

	digits[at] = '\0';
	for (; n >= 100; n /= 100) {
		at -= 2;
		memcpy(digits + at, pairs + n % 100 * 2, 2);
	}
	digits[--at] = pairs[n * 2 + 1];
	if (n >= 10)
		digits[--at] = pairs[n * 2];
	len = sizeof(digits) - 1 - at;
	memcpy(out, digits + at, len + 1);
	return len;
}

const char *dlki_digits_read(const char *text, uint64_t *out)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (n < UINT64_MAX / 10)
			n = n * 10 + (uint64_t)(*text - '0');
		else
			n = UINT64_MAX;
	}
	*out = n;
	return text;
}
