/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks for code in a process apart.  The first failure prints the
 * place and the reason on standard error, and ends the process, from any
 * thread.
 */
#ifndef DLOCK_TESTS_CHECK_H
#define DLOCK_TESTS_CHECK_H

#include <dlock/dlock.h>

enum { CHECK_FAILED = 1, CHECK_SKIPPED = 77 }; /* exit codes */

_Noreturn void check_fail(const char *file, int line, const char *fmt, ...)
	DLOCK_PRINTF(3, 4);

/* Ends the process as skipped, for the reason given. */
_Noreturn void check_skip(const char *why);

/* "EBUSY", "OK". */
const char *check_code(int rc);

void check_rc(const char *file, int line, const char *call, int got, int want);
void check_text(const char *file, int line, const char *text, const char *part);

#define FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			FAIL("%s", #condition);                                \
	} while (0)

/* CHECK_INT(a, <=, b): the failure shows both sides. */
#define CHECK_INT(a, op, b)                                                    \
	do {                                                                   \
		long long a_ = (long long)(a);                                 \
		long long b_ = (long long)(b);                                 \
		if (!(a_ op b_))                                               \
			FAIL("%s %s %s: %lld against %lld", #a, #op, #b, a_,   \
			     b_);                                              \
	} while (0)

/* Checks the return code of a dlock call; the failure shows the message. */
#define CHECK_RC(call, want) check_rc(__FILE__, __LINE__, #call, (call), (want))
#define CHECK_OK(call) CHECK_RC(call, DLOCK_OK)

/* Checks that `text` contains `part`. */
#define CHECK_TEXT(text, part) check_text(__FILE__, __LINE__, text, part)

#endif
