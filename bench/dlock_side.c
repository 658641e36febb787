/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"

#include <stdlib.h>

/* Threads share client and handle, as they would in a program. */
static int ours_open(struct bench_run *r, const char *where, void *other,
		     void **out)
{
	struct bench_lock *l = calloc(1, sizeof(*l));
	int rc = 0;

	if (!l)
		return bench_fail(r, "out of memory");
	if (other) {
		*l = *(const struct bench_lock *)other;
		l->borrowed = 1;
	} else {
		rc = bench_lock_open(l, r, where);
	}
	if (rc != 0) {
		free(l);
		return rc;
	}
	*out = l;
	return 0;
}

static void ours_close(void *lock)
{
	bench_lock_close(lock);
	free(lock);
}

static int ours_take(void *lock)
{
	return bench_lock_take(lock);
}

static int ours_give(void *lock)
{
	return bench_lock_give(lock);
}

static dlock_client *ours_client(void *lock)
{
	return ((struct bench_lock *)lock)->client;
}

const struct handoff_kind handoff_dlock = {
	.open = ours_open,
	.close = ours_close,
	.take = ours_take,
	.give = ours_give,
	.client = ours_client,
};
