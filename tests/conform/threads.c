/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a process share threads, and take few descriptors. */
#include <stdio.h>
#include <string.h>

#include "conform/cases.h"
#include "support/census.h"
#include "support/outcome.h"

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
	struct outcome waits[MORE + 1] = { 0 };
	dlock_lock *lock[MORE + 1];
	dlock_hold *first, *h[MORE];
	struct census one;

	use_unbound(t);
	lock[MORE] = t->lock;
	first = take(t->lock);
	ask_async(&waits[MORE], t->lock, -1);
	one = now();
	for (int i = 0; i < MORE; i++) {
		dlock_client *client = another_client(t, NULL, NULL);
		char name[32];

		snprintf(name, sizeof(name), "conform/threads-%d", i);
		h[i] = take(any_lock(t, client, MUTEX, 0, name));
		lock[i] = unbound(t, client);
		ask_async(&waits[i], lock[i], -1);
	}
	await_waiters(t, MORE + 1);
	EVENTUALLY(now().threads <= one.threads);
	CHECK_INT(now().fds - one.fds, <=, MORE * servers(t->uri) * MOST_FDS);
	CHECK_INT(census_threads("dlock-loop"), ==, 1);
	CHECK_INT(census_threads("dlock-work"), ==, 1);
	CHECK_INT(census_threads("dlock-async"), ==, 1);
	for (int i = 0; i <= MORE; i++) {
		dlock_cancel(lock[i]);
		ended_with(&waits[i], DLOCK_ECANCELED);
	}
	for (int i = 0; i < MORE; i++)
		give(h[i]);
	give(first);
}
