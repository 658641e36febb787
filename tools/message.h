/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people, on standard error.
 *
 * Names, labels and a store's messages come from strangers: control characters
 * in them, also Unicode's, are written as \xNN, so they can neither steer a
 * terminal nor forge a line of a log.
 */
#ifndef DLOCK_TOOLS_MESSAGE_H
#define DLOCK_TOOLS_MESSAGE_H

#include <dlock/dlock.h>
#include <stddef.h>

/* Copy `text` with control bytes, C1 controls, controls of direction and bytes
 * that are no UTF-8 as \xNN.  Writes at most `size` bytes with the NUL, whole
 * characters only, and returns the full length, as snprintf(3) does. */
size_t escape(char *out, size_t size, const char *text);

/* Print "dlock: <text>\n" in one write(2), so that lines of threads and
 * processes do not mix. */
void say(const char *fmt, ...) DLOCK_PRINTF(1, 2);

/* From now on, drop a message for which standard error has no room for so
 * long.  Until then a message waits. */
void say_within(int ms);

/* say(), then return `code`. */
int fail(int code, const char *fmt, ...) DLOCK_PRINTF(2, 3);

/* say() the library's last message, and return the exit code for `code`. */
int fail_dlock(int code);

/* Return the word of `words` (ends in NULL) nearest to `typed`, or NULL if all
 * are too far. */
const char *nearest(const char *typed, const char *const words[]);

#endif
