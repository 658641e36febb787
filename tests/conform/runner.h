/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run a case against a store, in a process of its own and under a deadline.
 */
#ifndef DLOCK_TESTS_CONFORM_RUNNER_H
#define DLOCK_TESTS_CONFORM_RUNNER_H

#include "conform/cases.h"

enum verdict { PASSED, SKIPPED, FAILED };

struct outcome {
	enum verdict verdict;
	int64_t took_ms;
	char text[8192]; /* what it said: the reason */
};

/* `{}` in the URI becomes a fresh directory. */
void conform_run(const char *name, const char *uri, struct outcome *out);

/* The URIs to test: $DLOCK_TEST_URIS, words apart; else the embedded stores.
 * The i-th in an allocated string, or NULL. */
char *conform_uri(size_t i);

/* A short name for it: its scheme, and a number from the second of them on. */
void conform_uri_name(size_t i, char *name, size_t size);

#endif
