/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as decimal digits, without what printf() and strtoull() cost.
 */
#ifndef DLOCK_CORE_BASE_DIGITS_H
#define DLOCK_CORE_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum { DLKI_DIGITS = 24 }; /* room for any number, and more */

/* Print the digits and a NUL; returns how many digits. */
size_t dlki_digits(char out[DLKI_DIGITS], uint64_t n);

/* Read digits, none of which is the number 0; returns where the digits end.  A
 * number of 1844674407370955161 or more may be UINT64_MAX. */
const char *dlki_digits_read(const char *text, uint64_t *out);

#endif
