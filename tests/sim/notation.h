/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of Redis as lines that people read, one line a reply:
 *
 *   +OK   :1   nil   "text"   [ "a" :1 nil ]   -ERR what was wrong
 *
 * Two replies have the same line if, and only if, they have the same bytes,
 * until marks take the place of what differs from run to run:
 *
 *   <t1> <t2>  a time or token, in us: 16 digits, at most two hours from now,
 *              by value; <t2!> is one that is not larger than all before
 *   <ms>       a time in ms: 13 digits, likewise
 *   <s>        a time in s: 10 digits, likewise
 *   <tenth>    the first 11 digits of a time in us, likewise
 *   ~500000    a number of 5 to 9 digits that is at most that, or one more, and
 *              at least 100000 less
 *   <hex>      40 hex digits; @name if they are the SHA-1 of that script
 *   %a         32 times the digit a
 */
#ifndef DLOCK_TESTS_SIM_NOTATION_H
#define DLOCK_TESTS_SIM_NOTATION_H

#include "sim/language.h"

/* A reply's line, without marks.  Returns what is behind the reply. */
const char *notation(struct sim_bytes *out, const char *reply);

/* Put marks into a line; `now_us` is the server's time. */
void notation_mark(struct marks *m, struct sim_bytes *line, int64_t now_us);

/* The bytes of a word in a request: marks become what they stand for, @name the
 * script's SHA-1, and @@name its text. */
void notation_word(const struct marks *m, struct sim_bytes *out,
		   const struct sim_bytes *word);

#endif
