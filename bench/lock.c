/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#define PATIENCE_MS 10000

static int prove(struct bench_lock *l)
{
	int rc = bench_lock_take(l);
	uint64_t first = 0;

	if (rc == 0) {
		first = dlock_token(l->hold);
		rc = bench_lock_give(l);
	}
	if (rc == 0)
		rc = bench_lock_take(l);
	if (rc != 0)
		return rc;
	if (dlock_token(l->hold) <= first)
		bench_fail(l->run, "%s: the token did not rise",
			   dlock_uri(l->client));
	if (bench_lock_give(l) != 0 || l->run->errors > 0)
		return -1;
	return 0;
}

int bench_lock_open(struct bench_lock *l, struct bench_run *r, const char *uri)
{
	int rc;

	*l = (struct bench_lock){ .run = r };
	rc = dlock_open(&l->client, uri, NULL);
	if (rc == DLOCK_ENOTSUP)
		return bench_skip(r, "%s", dlock_errmsg());
	if (rc != 0)
		return bench_fail_dlock(r, rc, "dlock_open");
	rc = dlock_mutex_new(&l->lock, l->client, "bench");
	if (rc != 0)
		rc = bench_fail_dlock(r, rc, "dlock_mutex_new");
	else
		rc = prove(l);
	if (rc != 0)
		bench_lock_close(l);
	return rc;
}

void bench_lock_close(struct bench_lock *l)
{
	if (!l->borrowed) {
		dlock_free(l->lock);
		dlock_close(l->client);
	}
	l->lock = NULL;
	l->client = NULL;
}

int bench_lock_take(struct bench_lock *l)
{
	int rc = dlock_acquire(l->lock, PATIENCE_MS, &l->hold);

	return rc == 0 ? 0 : bench_fail_dlock(l->run, rc, "dlock_acquire");
}

int bench_lock_give(struct bench_lock *l)
{
	int rc = dlock_release(l->hold);

	return rc == 0 ? 0 : bench_fail_dlock(l->run, rc, "dlock_release");
}

int bench_lock_pair(void *lock)
{
	struct bench_lock *l = lock;
	int rc = bench_lock_take(l);

	return rc == 0 ? bench_lock_give(l) : rc;
}
