/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a model Redis besides requests. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/redis/server.h"

enum { SECOND_US = 1000000 };

/* A script, and the same by its name. */
#define RETURN_1 "EVAL return(1) 0"
#define AGAIN "EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0"

static const int64_t start_us = INT64_C(1700000000) * SECOND_US;

static struct {
	struct sim_redis *s;
	struct sim_redis_conn *c;
	int64_t now_us;
} w;

static void begin(void)
{
	w.s = sim_redis_new(7);
	w.now_us = start_us;
	w.c = sim_redis_connect(w.s);
}

static void end(void)
{
	sim_redis_free(w.s);
}

TestSuite(sim_events, .timeout = 60, .init = begin, .fini = end);

/* Return the reply to a request in a line, valid until the next call. */
static const char *ask(struct sim_redis_conn *c, const char *line)
{
	static char reply[4096];
	struct sim_bytes *out = sim_redis_output(c);

	sim_redis_input(c, line, strlen(line), w.now_us);
	sim_redis_input(c, "\r\n", 2, w.now_us);
	cr_assert_lt(out->len, sizeof(reply));
	memcpy(reply, sim_bytes_text(out), out->len);
	reply[out->len] = '\0';
	sim_bytes_take(out, out->len);
	return reply;
}

static void run_id(char out[41])
{
	const char *at = strstr(ask(w.c, "INFO server"), "run_id:");

	cr_assert(at);
	memcpy(out, at + 7, 40);
	out[40] = '\0';
}

Test(sim_events, restart_with_memory)
{
	char before[41], after[41];

	run_id(before);
	ask(w.c, "SET k 1 PX 5000");
	ask(w.c, "SET short 1 PX 10");
	ask(w.c, RETURN_1);
	sim_redis_input(w.c, "PING\r\n", 6, w.now_us);
	sim_redis_restart(w.s, 1);
	cr_assert(sim_redis_is_closing(w.c));
	cr_assert_eq(sim_redis_output(w.c)->len, 0, "a reply outlived it");
	sim_redis_disconnect(w.c);

	w.c = sim_redis_connect(w.s);
	w.now_us += SECOND_US;
	run_id(after);
	cr_assert_str_neq(before, after);
	cr_assert_str_eq(ask(w.c, "GET k"), "$1\r\n1\r\n");
	cr_assert_str_eq(ask(w.c, "GET short"), "$-1\r\n");
	cr_assert_eq(strncmp(ask(w.c, AGAIN), "-NOSCRIPT ", 10), 0);
}

Test(sim_events, restart_without_memory)
{
	ask(w.c, "SET k 1");
	sim_redis_restart(w.s, 0);
	cr_assert_eq(sim_redis_keys(w.s, w.now_us), 0);
}

Test(sim_events, same_seed_same_run_ids)
{
	char one[41], two[41];

	run_id(one);
	end();
	begin();
	run_id(two);
	cr_assert_str_eq(one, two);
}

Test(sim_events, scripts_forgotten)
{
	ask(w.c, RETURN_1);
	cr_assert_str_eq(ask(w.c, AGAIN), ":1\r\n");
	sim_redis_forget_scripts(w.s);
	cr_assert_eq(strncmp(ask(w.c, AGAIN), "-NOSCRIPT ", 10), 0);
}

Test(sim_events, eviction_takes_one_key)
{
	sim_redis_evict(w.s, 3);
	ask(w.c, "SET a 1");
	ask(w.c, "SET b 1");
	ask(w.c, "SELECT 1");
	ask(w.c, "SET c 1");
	sim_redis_evict(w.s, 5);
	cr_assert_str_eq(ask(w.c, "EXISTS c"), ":0\r\n");
	cr_assert_eq(sim_redis_keys(w.s, w.now_us), 2);
	sim_redis_evict(w.s, 2);
	cr_assert_not(sim_redis_string(w.s, "a", w.now_us));
	cr_assert(sim_redis_string(w.s, "b", w.now_us));
	sim_redis_flush(w.s);
	cr_assert_eq(sim_redis_keys(w.s, w.now_us), 0);
}

Test(sim_events, replica_stays_behind)
{
	struct sim_redis *replica = sim_redis_new(8);
	struct sim_redis_conn *c = sim_redis_connect(replica);

	ask(w.c, "SET k 1 PX 5000");
	ask(w.c, "HSET h f v");
	ask(w.c, "ZADD z 1 a 2 b");
	ask(w.c, "HSET l a 1 b 2");
	sim_redis_set_replica(replica, 1);
	sim_redis_copy(replica, w.s);
	ask(w.c, "SET k 2");
	ask(w.c, "DEL h z l");
	cr_assert_eq(strncmp(ask(c, "SET k 3"), "-READONLY ", 10), 0);
	sim_redis_set_replica(replica, 0);
	cr_assert_str_eq(ask(c, "GET k"), "$1\r\n1\r\n");
	cr_assert_str_eq(ask(c, "HGET h f"), "$1\r\nv\r\n");
	cr_assert_str_eq(ask(c, "ZRANK z b"), ":1\r\n");
	cr_assert_str_eq(ask(c, "HGET l b"), "$1\r\n2\r\n");
	w.now_us += 6 * SECOND_US;
	cr_assert_str_eq(ask(c, "GET k"), "$-1\r\n");
	sim_redis_free(replica);
}

Test(sim_events, loading)
{
	sim_redis_set_loading(w.s, 1);
	cr_assert_eq(strncmp(ask(w.c, "PING"), "-LOADING ", 9), 0);
	cr_assert_eq(strncmp(ask(w.c, "EVAL return(1) 0"), "-LOADING ", 9), 0);
	cr_assert_str_eq(ask(w.c, "SELECT 1"), "+OK\r\n");
	cr_assert_eq(*ask(w.c, "INFO server"), '$');
	sim_redis_set_loading(w.s, 0);
	cr_assert_str_eq(ask(w.c, "PING"), "+PONG\r\n");
}

Test(sim_events, subscriber_that_is_gone)
{
	struct sim_redis_conn *c = sim_redis_connect(w.s);

	ask(c, "SUBSCRIBE ch");
	cr_assert_str_eq(ask(w.c, "PUBLISH ch x"), ":1\r\n");
	sim_redis_disconnect(c);
	cr_assert_str_eq(ask(w.c, "PUBLISH ch x"), ":0\r\n");
}
