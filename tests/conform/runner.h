/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run a case against a store, in a separate process and under a deadline.
 */
#ifndef DLOCK_TESTS_CONFORM_RUNNER_H
#define DLOCK_TESTS_CONFORM_RUNNER_H

#include "conform/cases.h"

enum verdict { PASSED, SKIPPED, FAILED };

struct outcome {
	enum verdict verdict;
	int64_t took_ms;
	char text[8192]; /* output of the case: the reason */
};

/* Run a case. `{}` in the URI becomes a fresh directory. */
void conform_run(const char *name, const char *uri, struct outcome *out);

/* Return URI `i` of $DLOCK_TEST_URIS, allocated, or NULL. Spaces separate the
 * URIs; the default is the embedded stores. */
char *conform_uri(size_t i);

/* Write a short name: the scheme, and a number from the second store of the
 * scheme on. */
void conform_uri_name(size_t i, char *name, size_t size);

#endif
