/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went wrong in the lab, in words.
 *
 * Functions of the lab that return int answer 0, or -1 after lab_fail(); those
 * that return a pointer answer NULL.  The words are kept per thread.
 */
#ifndef DLOCK_LAB_FAIL_H
#define DLOCK_LAB_FAIL_H

#include <stddef.h>

/* Set this thread's message.  Always -1, so that it can be returned.  Keeps
 * errno. */
__attribute__((format(printf, 1, 2))) int lab_fail(const char *format, ...);

#ifdef __clang_analyzer__ /* which reads one file at a time */
#define lab_fail(...) ((void)(lab_fail)(__VA_ARGS__), -1)
#endif

/* Add to the message the last lines of the file at `path`, if there are any. */
void lab_fail_tail(const char *path);

/* This thread's last message, "" if there was none.  Valid until the next. */
const char *lab_errmsg(void);

#endif
