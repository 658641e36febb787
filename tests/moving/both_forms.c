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

#include "lab/base/fail.h"
#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"
#include "support/hold.h"
#include "support/wait.h"

#define NAME "billing/nightly"
#define MOST_MS 5000
#define SECONDS 10

enum form { MULTI, NESTED };

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

	for (size_t i = 0; i < n; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, run, &p[i]), 0);
	nap_ms((int)seconds * 1000);
	atomic_store(&stop, 1);
	for (size_t i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		printf("%s %s: %ld turns, longest wait %lld ms\n",
		       p[i].form == MULTI ? "multi-lock" : "nested",
		       p[i].uri[0], p[i].turns, (long long)p[i].longest_ms);
	}
	for (size_t i = 0; i < n; i++) {
		cr_assert_gt(p[i].turns, 1);
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

Test(moving_forms, take_turns)
{
	struct lab_server *old = lab_redis_start(NULL);
	struct lab_server *new = lab_memcached_start(NULL);
	struct program p[6];

	cr_assert(old && new, "%s", lab_errmsg());
	for (size_t i = 0; i < 6; i++)
		set(&p[i], i < 3 ? MULTI : NESTED, "redis://127.0.0.1:%d/",
		    old->port, "memcached://127.0.0.1:%d/", new->port);
	run_all(p, 6);
	lab_server_free(old);
	lab_server_free(new);
}

/* Half of the URIs have the old store first in the order of their texts. */
Test(moving_forms, spelled_in_two_ways_take_turns)
{
	static const char ip[] = "redis://127.0.0.1:%d/";
	static const char host[] = "redis://localhost:%d/";
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
