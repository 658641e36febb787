/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of Redis as readable lines, a line a reply:
 *
 *   +OK   :1   nil   "text"   [ "a" :1 nil ]   -ERR the reason
 *
 * Two replies have the same line if, and only if, they have the same bytes,
 * until marks take the place of values that differ from run to run:
 *
 *   <t1> <t2>  a time or token, in us: 16 digits, at most two hours from now,
 *              by value; <t2!> is not larger than all before
 *   <ms>       a time in ms: 13 digits, likewise
 *   <s>        a time in s: 10 digits, likewise
 *   <tenth>    the first 11 digits of a time in us, likewise
 *   ~500000    a number of 5 to 9 digits, from 100000 less to 1 more
 *   <hex>      40 hex digits; @name if they are the SHA-1 of a script
 *   %a         32 times the digit a
 */
#ifndef DLOCK_TESTS_SIM_NOTATION_H
#define DLOCK_TESTS_SIM_NOTATION_H

#include "sim/language.h"

/* Print a reply's line, without marks.  Return the reply's end. */
const char *notation(struct sim_bytes *out, const char *reply);

/* Put marks into a line; `now_us` is the server's time. */
void notation_mark(struct marks *m, struct sim_bytes *line, int64_t now_us);

/* Append the bytes of a word in a request: marks become values, @name the
 * script's SHA-1, and @@name the script's text. */
void notation_word(const struct marks *m, struct sim_bytes *out,
		   const struct sim_bytes *word);

#endif
