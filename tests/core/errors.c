/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input gets the documented code, and a message that names the culprit. */
#include "core/fixture.h"

#include <stddef.h>

#include "core/claim.h"
#include "dlock_config.h"
#include "support/outcome.h"

static void set_up(void)
{
	fixture();
	given_mutex("fake:?ttl=2s");
}

TestSuite(errors, .init = set_up, .timeout = 60);

/* ---- Bad URIs ------------------------------------------------------------ */

CASE(errors, refuse_bad_uris)
{
	static const struct {
		const char *uri;
		int code;
		const char *text;
	} bad[] = {
		{ NULL, DLOCK_EINVAL, "NULL" },
		{ "", DLOCK_EINVAL, "empty" },
		{ "localhost", DLOCK_EINVAL, "no scheme" },
		{ "fakt:", DLOCK_EINVAL, "'fakt'" },
		{ "filee:", DLOCK_EINVAL, "did you mean 'file'" },
		{ "zookeeper://h", DLOCK_EINVAL, "did you mean 'zk'" },
		{ "memcache://h", DLOCK_EINVAL, "did you mean 'memcached'" },
#if !DLOCK_HAVE_TLS
		{ "rediss://h", DLOCK_ENOTSUP, "-DDLOCK_TLS=ON" },
		{ "memcacheds://h", DLOCK_ENOTSUP, "-DDLOCK_TLS=ON" },
#endif
		{ "fake:?ttl=0", DLOCK_EINVAL, "10ms to 24h" },
		{ "fake:?tttl=30s", DLOCK_EINVAL, "did you mean 'ttl'" },
		{ "fake://h:0", DLOCK_EINVAL, "1 to 65535" },
		{ "mem://u:p@h", DLOCK_EINVAL, "user or password" },
		{ "mem:?fail=0", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=x", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=3-2", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=-3", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=3x", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=3-x", DLOCK_EINVAL, "parameter fail: '" },
		{ "mem:?fail=1-2-", DLOCK_EINVAL, "parameter fail: '" },
		/* The store lacks the feature. */
		{ "fakemute:?ttl=3s", DLOCK_EINVAL, "no 'renew'" },
		{ "fakemute:?check=3s", DLOCK_EINVAL, "no 'renew'" },
		{ "fakewant:?ttl=10s&keep=5001ms", DLOCK_EINVAL,
		  "more than half of the lease of 10000ms" },
		{ "fakewant:?ttl=10s&agreed=4s&keep=3s", DLOCK_EINVAL,
		  "half of the lease of 4000ms" },
		{ "fake:?keep=1s", DLOCK_ENOTSUP, "keep=" },
		{ "fake:?passes=1", DLOCK_ENOTSUP, "passes=" },
		{ "fake:?release=async", DLOCK_ENOTSUP, "release=async" },
	};
	static const char *const good[] = {
		"fakemute:", "fakewant:?ttl=10s&keep=5s",
		"fake:?keep=0s&passes=0", "mem:?release=async"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		dlock_client *c = NULL;

		REFUSED(dlock_open(&c, bad[i].uri, NULL), bad[i].code,
			bad[i].text);
		cr_assert_null(c);
	}
	INVALID(dlock_open(NULL, "fake:", NULL), "out is NULL");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		close_store(open_store(good[i], NULL));
}

/* ---- Bad arguments ------------------------------------------------------- */

CASE(errors, refuse_null)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_lock *l = NULL;
	int n = 0;

	INVALID(dlock_mutex_new(NULL, client, "a"), "out");
	INVALID(dlock_mutex_new(&l, NULL, "a"), "client");
	INVALID(dlock_acquire(NULL, 0, &hold), "lock");
	INVALID(dlock_acquire(lock, 0, NULL), "out");
	INVALID(dlock_acquire_shared(NULL, 0, &hold), "lock");
	INVALID(dlock_release(NULL), "hold");
	INVALID(dlock_hold_fd(NULL), "hold");
	INVALID(dlock_inspect(NULL, count_participant, &n, 0), "lock");
	INVALID(dlock_inspect(lock, NULL, NULL, 0), "each");
	INVALID(dlock_list(NULL, count_entry, &n, 0), "client");
	INVALID(dlock_list(client, NULL, NULL, 0), "each");
	INVALID(dlock_break(NULL, 0), "lock");
	INVALID(dlock_get_stats(NULL, &st), "client");
	INVALID(dlock_get_stats(client, NULL), "out");
}

/* A deadline in the past, less the time, is no wish to wait for ever. */
CASE(errors, refuse_negative_timeouts)
{
	static const int64_t bad[] = { -2, -5000, INT64_MIN };
	static struct outcome never;
	dlock_lock *rw = rwlock(client, "rw");
	dlock_lock *sem = semaphore(client, "sem", 2);
	int n = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t ms = bad[i];

		INVALID(dlock_acquire(lock, ms, &hold), "DLOCK_FOREVER");
		INVALID(dlock_acquire_shared(rw, ms, &hold), "timeout_ms is -");
		INVALID(dlock_acquire_start(sem, ms, outcome_note, &never,
					    NULL),
			"DLOCK_FOREVER");
		INVALID(dlock_inspect(lock, count_participant, &n, ms),
			"DLOCK_FOREVER");
		INVALID(dlock_list(client, count_entry, &n, ms),
			"DLOCK_FOREVER");
		INVALID(dlock_break(lock, ms), "DLOCK_FOREVER");
		INVALID(dlock_revoke(lock, ms), "DLOCK_FOREVER");
	}
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 0);
	cr_assert_eq(never.calls, 0);
}

CASE(errors, refuse_stats_of_no_size)
{
	struct {
		struct dlock_stats st;
		char more[32];
	} newer = { .st.size = sizeof(newer), .more = "untouched" };
	struct dlock_stats st = { .size = 0 };
	struct dlock_stats old = { .size = offsetof(struct dlock_stats, busy),
				   .busy = 4711 };

	INVALID(dlock_get_stats(client, &st), "size is 0");
	OK(dlock_get_stats(client, &old));
	cr_assert_eq(old.busy, 4711);
	OK(dlock_get_stats(client, &newer.st));
	cr_assert_eq(newer.st.size, sizeof(struct dlock_stats));
	cr_assert_str_eq(newer.more, "untouched");
}

CASE(errors, refuse_bad_permits)
{
	dlock_lock *l = NULL, *other = NULL;

	INVALID(dlock_semaphore_new(&l, client, "s", 0), "0 permits");
	OK(dlock_semaphore_new(&l, client, "s", 3));
	INVALID(dlock_semaphore_new(&other, client, "s", 4),
		"3 permits here, not 4");
	cr_assert_null(other);
	dlock_lock_free(l);
	OK(dlock_semaphore_new(&l, client, "s", 4));
	dlock_lock_free(l);
}

CASE(errors, refuse_a_side_or_a_kind_that_is_not_there)
{
	dlock_client *c =
		closed_at_end(open_store("fake://poor?without=6", NULL));
	dlock_lock *none = NULL;

	INVALID(dlock_acquire_shared(lock, 0, &hold), "read side");
	REFUSED(dlock_rwlock_new(&none, c, "a"), DLOCK_ENOTSUP,
		"no read-write locks");
	REFUSED(dlock_semaphore_new(&none, c, "a", 1), DLOCK_ENOTSUP,
		"no semaphores");
	cr_assert_null(none);
}

CASE(errors, refuse_what_the_store_cannot_tell)
{
	dlock_client *c = closed_at_end(open_store("fakebare://bare", NULL));
	dlock_lock *l = mutex(c, "a");
	int n = 0;

	REFUSED(dlock_inspect(l, count_participant, &n, 0), DLOCK_ENOTSUP,
		"fakebare");
	REFUSED(dlock_list(c, count_entry, &n, 0), DLOCK_ENOTSUP, "list");
	REFUSED(dlock_break(l, 0), DLOCK_ENOTSUP, "break");
}

CASE(errors, tell_the_count_that_is_full)
{
	dlock_hold *again = NULL;

	hold = take(lock);
	/* No test has the time for 2^32 acquires, so the case sets the count.
	 *  */
	hold->count = UINT32_MAX;
	REFUSED(dlock_acquire(lock, 0, &again), DLOCK_EEXHAUSTED, "2^32 - 1");
	hold->count = 1;
	OK(dlock_release(hold));
}
