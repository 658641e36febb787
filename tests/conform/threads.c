/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a process share threads. */
#include <stdio.h>

#include "conform/cases.h"
#include "support/census.h"

enum { MORE = 9 };

static int threads(void)
{
	struct census now;

	census_take(&now);
	return now.threads;
}

void case_threads_are_shared(struct conform *t)
{
	dlock_hold *h[MORE];
	int one;

	use_mutex(t);
	give(take(t->lock));
	one = threads();
	CHECK_INT(census_threads("dlock-loop"), ==, 1);
	CHECK_INT(census_threads("dlock-work"), ==, 1);
	for (int i = 0; i < MORE; i++) {
		char name[32];

		snprintf(name, sizeof(name), "conform/threads-%d", i);
		h[i] = take(any_lock(t, another_client(t, NULL, NULL), MUTEX, 0,
				     name));
	}
	EVENTUALLY(threads() <= one);
	CHECK_INT(census_threads("dlock-loop"), ==, 1);
	CHECK_INT(census_threads("dlock-work"), ==, 1);
	for (int i = 0; i < MORE; i++)
		give(h[i]);
}
