/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two forms of docs/moving.md at once: programs with a multi-lock of both
 * stores, in either order of the URIs, and programs with the old store's lock
 * around the new store's.  A run takes DLOCK_TEST_SECONDS; no wait takes more
 * than 5 s.
 */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"
#include "support/hold.h"
#include "support/wait.h"

#define NAME "billing/nightly"
#define MOST_MS 5000
#define SECONDS 10

enum form { MULTI, NESTED, OLD_ALONE };

static const char *const names[] = { "multi-lock", "nested", "old alone" };

struct program {
	enum form form;
	char uri[2][64]; /* old, new */
	long turns;
	int64_t longest_ms;
};

static _Atomic int holders, stop;

/* The work of a holder of both locks. */
static void work(void)
{
	cr_assert_eq(atomic_fetch_add(&holders, 1), 0, "two holders");
	nap_ms(1);
	atomic_fetch_sub(&holders, 1);
}

static void turn(struct program *p, dlock_lock *const member[2],
		 dlock_lock *both)
{
	int64_t begun = now_ms();
	dlock_hold *first = take(p->form == MULTI ? both : member[0], FOREVER);
	dlock_hold *second = NULL;
	int64_t ms;

	if (p->form == NESTED)
		second = take(member[1], FOREVER);
	ms = now_ms() - begun;
	if (ms > p->longest_ms)
		p->longest_ms = ms;
	if (p->form != OLD_ALONE)
		work();
	if (second)
		give(second);
	give(first);
	p->turns++;
}

static void *run(void *arg)
{
	struct program *p = arg;
	dlock_client *client[2];
	dlock_lock *member[2], *both;

	for (int i = 0; i < 2; i++) {
		CHECK_OK(dlock_open(&client[i], p->uri[i], NULL));
		CHECK_OK(dlock_mutex_new(&member[i], client[i], NAME));
	}
	CHECK_OK(dlock_multi_new(&both, member, 2));
	while (!atomic_load(&stop))
		turn(p, member, both);
	dlock_lock_free(both);
	for (int i = 0; i < 2; i++) {
		dlock_lock_free(member[i]);
		dlock_close(client[i]);
	}
	return NULL;
}

static void run_all(struct program *p, size_t n)
{
	const char *given = getenv("DLOCK_TEST_SECONDS");
	long seconds = given ? strtol(given, NULL, 10) : SECONDS;
	pthread_t thread[8];
	long most = 0;

	for (size_t i = 0; i < n; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, run, &p[i]), 0);
	nap_ms((int)seconds * 1000);
	atomic_store(&stop, 1);
	for (size_t i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		printf("%s %s: %ld turns, longest wait %lld ms\n",
		       names[p[i].form], p[i].uri[0], p[i].turns,
		       (long long)p[i].longest_ms);
		if (p[i].turns > most)
			most = p[i].turns;
	}
	for (size_t i = 0; i < n; i++) {
		cr_assert_gt(p[i].turns * 20, most);
		cr_assert_leq(p[i].longest_ms, MOST_MS * slowness());
	}
}

TestSuite(moving_forms, .timeout = 400);

static void set(struct program *p, enum form form, const char *old,
		int old_port, const char *new, int new_port)
{
	*p = (struct program){ .form = form };
	snprintf(p->uri[0], sizeof(p->uri[0]), old, old_port);
	snprintf(p->uri[1], sizeof(p->uri[1]), new, new_port);
}

/* Half of the URIs have the old store first in the order of their texts. */
Test(moving_forms, spelled_in_two_ways_take_turns)
{
	static const char ip[] = "redis://127.0.0.1:%d/?close=1m";
	static const char host[] = "redis://localhost:%d/?close=1m";
	struct lab_server *old = lab_redis_start(NULL);
	struct lab_server *new = lab_redis_start(NULL);
	struct program p[6];

	cr_assert(old && new, "%s", lab_errmsg());
	for (size_t i = 0; i < 6; i++)
		set(&p[i], i < 4 ? MULTI : NESTED, i % 2 ? ip : host, old->port,
		    i % 2 ? host : ip, new->port);
	run_all(p, 6);
	lab_server_free(old);
	lab_server_free(new);
}

/* Also beside programs of the page's step 1, with the old store alone. */
Test(moving_forms, take_turns)
{
	static const enum form forms[] = { MULTI,  MULTI,     MULTI,
					   NESTED, OLD_ALONE, OLD_ALONE };
	struct lab_server *old = lab_redis_start(NULL);
	struct lab_server *new = lab_memcached_start(NULL);
	struct program p[6];

	cr_assert(old && new, "%s", lab_errmsg());
	for (size_t i = 0; i < 6; i++)
		set(&p[i], forms[i], "redis://127.0.0.1:%d/?close=1m",
		    old->port, "memcached://127.0.0.1:%d/?close=1m", new->port);
	run_all(p, 6);
	lab_server_free(old);
	lab_server_free(new);
}

static dlock_lock *member(dlock_client **client, const char *scheme, int port)
{
	dlock_lock *l = NULL;
	char uri[64];

	snprintf(uri, sizeof(uri), scheme, port);
	CHECK_OK(dlock_open(client, uri, NULL));
	CHECK_OK(dlock_mutex_new(&l, *client, NAME));
	return l;
}

/* A server by two URIs: the multi-lock finds itself in the way. */
static void refuse_twice(const char *uri, const char *again, int port)
{
	dlock_client *c[2];
	dlock_lock *m[2] = { member(&c[0], uri, port),
			     member(&c[1], again, port) };
	dlock_lock *twice;
	dlock_hold *none;

	CHECK_OK(dlock_multi_new(&twice, m, 2));
	cr_assert_eq(dlock_acquire(twice, 60000, &none), DLOCK_EINVAL, "%s",
		     dlock_errmsg());
	cr_assert_not_null(strstr(dlock_errmsg(), "are one store"));
	dlock_lock_free(twice);
	for (int i = 0; i < 2; i++) {
		dlock_lock_free(m[i]);
		dlock_close(c[i]);
	}
}

Test(moving_forms, one_server_by_two_uris_is_refused)
{
	struct lab_server *redis = lab_redis_start(NULL);
	struct lab_server *memcached = lab_memcached_start(NULL);

	cr_assert(redis && memcached, "%s", lab_errmsg());
	refuse_twice("redis://127.0.0.1:%d/", "redis://localhost:%d/",
		     redis->port);
	refuse_twice("valkey://127.0.0.1:%d/", "redis://127.0.0.1:%d/",
		     redis->port);
	refuse_twice("memcached://127.0.0.1:%d/", "memcached://localhost:%d/",
		     memcached->port);
	lab_server_free(redis);
	lab_server_free(memcached);
}
