/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lab's error messages.
 *
 * Functions of the lab that return int answer 0, or -1 after lab_fail();
 * functions that return a pointer answer NULL.  Each thread has a message of
 * its own.
 */
#ifndef DLOCK_LAB_FAIL_H
#define DLOCK_LAB_FAIL_H

#include <stddef.h>

/* Set this thread's message.  Always -1, for the caller to return.  Keeps
 * errno. */
__attribute__((format(printf, 1, 2))) int lab_fail(const char *format, ...);

#ifdef __clang_analyzer__ /* reads one file at a time */
#define lab_fail(...) ((void)(lab_fail)(__VA_ARGS__), -1)
#endif

/* Add to the message the last lines of the file at `path`, if there are any. */
void lab_fail_tail(const char *path);

/* This thread's last message, "" before the first.  Valid until the next. */
const char *lab_errmsg(void);

#endif
