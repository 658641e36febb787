/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a process share threads, and take few descriptors. */
#include <stdio.h>
#include <string.h>

#include "conform/cases.h"
#include "support/census.h"

enum { MORE = 9, MOST_FDS = 8 };

static struct census now(void)
{
	struct census c;

	census_take(&c);
	return c;
}

/* A parameter, a path or a password may have commas, too. */
static int servers(const char *uri)
{
	const char *at = strstr(uri, "://");
	int n = 1;

	for (at = at ? at + 3 : ""; *at && !strchr("/?", *at); at++)
		n = *at == '@' ? 1 : n + (*at == ',');
	return n;
}

void case_threads_are_shared(struct conform *t)
{
	dlock_hold *h[MORE];
	struct census one;

	use_mutex(t);
	give(take(t->lock));
	one = now();
	CHECK_INT(census_threads("dlock-loop"), ==, 1);
	CHECK_INT(census_threads("dlock-work"), ==, 1);
	for (int i = 0; i < MORE; i++) {
		char name[32];

		snprintf(name, sizeof(name), "conform/threads-%d", i);
		h[i] = take(any_lock(t, another_client(t, NULL, NULL), MUTEX, 0,
				     name));
	}
	EVENTUALLY(now().threads <= one.threads);
	CHECK_INT(now().fds - one.fds, <=, MORE * servers(t->uri) * MOST_FDS);
	CHECK_INT(census_threads("dlock-loop"), ==, 1);
	CHECK_INT(census_threads("dlock-work"), ==, 1);
	for (int i = 0; i < MORE; i++)
		give(h[i]);
}
