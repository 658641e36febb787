/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in tests: conditions with a deadline, and allowances for a busy machine.
 */
#ifndef DLOCK_TESTS_WAIT_H
#define DLOCK_TESTS_WAIT_H

#include <stdint.h>

#include "support/check.h"

int64_t now_ms(void);    /* CLOCK_BOOTTIME */
uint64_t wall_us(void);  /* CLOCK_REALTIME, as tokens count it */
void nap_ms(int64_t ms); /* goes on after signals, and keeps errno */
void nap_us(int64_t us);

/* The longest wait for a condition. */
int64_t patience_ms(void);

/* The allowance for an answer due now. */
int64_t slack_ms(void);

/* The factor for times: of a sanitizer, and of $DLOCK_TEST_SLOW, with which
 * scripts/test makes all bounds wide. */
int64_t slowness(void);

/* The allowance for a bound without the factor: 0 without $DLOCK_TEST_SLOW. */
int64_t grace_ms(void);

/* Tells whether malloc() is a sanitizer's.  Unlike the C library's, a
 * sanitizer's malloc() may hang in a child forked while other threads ran, and
 * ThreadSanitizer knows no threads in such a child. */
int sanitized(void);

/* Tells whether the descriptor becomes readable within `ms`. */
int is_readable(int fd, int64_t ms);

/* Waits until `condition` holds. */
#define EVENTUALLY(condition)                                                  \
	do {                                                                   \
		int64_t end_ = now_ms() + patience_ms();                       \
		while (!(condition)) {                                         \
			if (now_ms() > end_)                                   \
				FAIL("never came true: %s", #condition);       \
			nap_ms(1);                                             \
		}                                                              \
	} while (0)

/* Checks that `condition` holds from now on for `ms`. */
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
 * Checks a bound on time up to three times: a machine may be busy, but a wrong
 * deadline is wrong each time.  `call` returns the milliseconds taken.
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
