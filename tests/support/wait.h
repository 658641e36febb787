/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in tests: conditions with a deadline, and what a busy machine is
 * allowed.
 */
#ifndef DLOCK_TESTS_WAIT_H
#define DLOCK_TESTS_WAIT_H

#include <stdint.h>

#include "support/check.h"

int64_t now_ms(void);    /* CLOCK_BOOTTIME */
void nap_ms(int64_t ms); /* through signals, and keeps errno */
void nap_us(int64_t us);

/* What never takes that long has failed. */
int64_t patience_ms(void);

/* How late an answer may come that is due now. */
int64_t slack_ms(void);

/* Times are multiplied by this under a sanitizer; and by $DLOCK_TEST_SLOW, with
 * which scripts/test makes all bounds wide. */
int64_t slowness(void);

/* What a bound that is not multiplied allows beside it: 0 without
 * $DLOCK_TEST_SLOW. */
int64_t grace_ms(void);

/* Does a sanitizer's allocator stand behind malloc()?  Unlike the C library's,
 * it may hang in a child that was forked while other threads ran, and
 * ThreadSanitizer knows no threads there. */
int sanitized(void);

/* Is there something to read from the descriptor, within so long? */
int is_readable(int fd, int64_t ms);

/* Wait until `condition` holds. */
#define EVENTUALLY(condition)                                                  \
	do {                                                                   \
		int64_t end_ = now_ms() + patience_ms();                       \
		while (!(condition)) {                                         \
			if (now_ms() > end_)                                   \
				FAIL("never came true: %s", #condition);       \
			nap_ms(1);                                             \
		}                                                              \
	} while (0)

/* `condition` holds from now on for `ms`. */
#define ALL_ALONG(ms, condition)                                               \
	do {                                                                   \
		int64_t end_ = now_ms() + (ms);                                \
		do {                                                           \
			if (!(condition))                                      \
				FAIL("came not to hold: %s", #condition);      \
			nap_ms(1);                                             \
		} while (now_ms() < end_);                                     \
	} while (0)

/*
 * A bound on time fails only if it does three times in a row: a machine may be
 * busy elsewhere, while a wrong deadline is wrong each time.  `call` answers
 * the milliseconds it took.
 */
#define CHECK_WITHIN(call, most_ms)                                            \
	do {                                                                   \
		int64_t took_ = 0;                                             \
		int tries_;                                                    \
		for (tries_ = 0; tries_ < 3; tries_++) {                       \
			took_ = (call);                                        \
			if (took_ <= (most_ms))                                \
				break;                                         \
		}                                                              \
		if (tries_ == 3)                                               \
			FAIL("%s took %lld ms, of %lld", #call,                \
			     (long long)took_, (long long)(most_ms));          \
	} while (0)

#endif
