/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a model memcached besides requests. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/memcached/server.h"

enum { SECOND_US = 1000000 };

static struct {
	struct sim_memc *s;
	struct sim_memc_conn *c;
	struct sim_memc_time now;
} w;

static void begin(void)
{
	w.now.up_us = 10 * SECOND_US + 700000;
	w.now.wall_us = INT64_C(1700000000) * SECOND_US;
	w.s = sim_memc_new(4711, w.now);
	w.c = sim_memc_connect(w.s);
}

static void end(void)
{
	sim_memc_free(w.s);
}

TestSuite(sim_memcached, .timeout = 60, .init = begin, .fini = end);

/* Return the replies to a connection's bytes, valid until the next call. */
static const char *ask(struct sim_memc_conn *c, const char *request)
{
	static char reply[4096];
	struct sim_bytes *out = sim_memc_output(c);

	sim_memc_input(c, request, strlen(request));
	cr_assert_lt(out->len, sizeof(reply));
	memcpy(reply, sim_bytes_text(out), out->len);
	reply[out->len] = '\0';
	sim_bytes_take(out, out->len);
	return reply;
}

static void stats(const char *line)
{
	const char *reply = ask(w.c, "stats\r\n");

	cr_assert(strstr(reply, line), "no %s in %s", line, reply);
}

/* The time goes on; the timer rings when it is due. */
static void go_on(int64_t us)
{
	for (int64_t end = w.now.up_us + us; w.now.up_us < end;) {
		w.now.up_us = sim_memc_tick_due(w.s);
		if (w.now.up_us <= end)
			sim_memc_tick(w.s, w.now.up_us);
		else
			w.now.up_us = end;
	}
}

Test(sim_memcached, age_counts_from_two)
{
	stats("STAT uptime 2\r\n");
	stats("STAT time 1700000000\r\n");
	stats("STAT pid 4711\r\n");
	go_on(999999);
	stats("STAT uptime 2\r\n");
	go_on(1);
	stats("STAT uptime 3\r\n");
	stats("STAT time 1700000001\r\n");
}

/* A late timer may count two seconds at once. */
Test(sim_memcached, late_timer_counts_two)
{
	ask(w.c, "set k 0 2 1\r\nx\r\n");
	sim_memc_tick(w.s, w.now.up_us += SECOND_US + 299999);
	stats("STAT uptime 3\r\n");
	cr_assert_eq(sim_memc_tick_due(w.s), w.now.up_us + SECOND_US);
	sim_memc_tick(w.s, w.now.up_us += SECOND_US + 1);
	stats("STAT uptime 5\r\n");
	cr_assert_str_eq(ask(w.c, "get k\r\n"), "END\r\n");
}

/* A client finds the item until the timer rings. */
Test(sim_memcached, item_has_expired_while_the_timer_is_late)
{
	int64_t end_us = (w.now.up_us / SECOND_US + 2) * SECOND_US;

	ask(w.c, "set k 0 2 1\r\nx\r\n");
	cr_assert_not(sim_memc_has_expired(w.s, "k", end_us - 1));
	cr_assert(sim_memc_has_expired(w.s, "k", end_us));
	cr_assert_str_eq(ask(w.c, "get k\r\n"), "VALUE k 0 1\r\nx\r\nEND\r\n");
	sim_memc_tick(w.s, w.now.up_us = end_us);
	cr_assert_not(sim_memc_has_expired(w.s, "k", end_us));
	cr_assert_str_eq(ask(w.c, "get k\r\n"), "END\r\n");
}

/* The item's time counts from before the stop. */
Test(sim_memcached, stopped_server_reads_before_its_timer_rings)
{
	w.now.up_us += 30 * SECOND_US;
	ask(w.c, "set k 0 20 1\r\nx\r\n");
	stats("STAT uptime 2\r\n");
	cr_assert_str_eq(ask(w.c, "get k\r\n"), "VALUE k 0 1\r\nx\r\nEND\r\n");
	sim_memc_tick(w.s, w.now.up_us);
	stats("STAT uptime 32\r\n");
	cr_assert_str_eq(ask(w.c, "get k\r\n"), "END\r\n");
}

Test(sim_memcached, restart)
{
	ask(w.c, "set a 0 0 1\r\nx\r\nset k 0 0 1\r\nx\r\n");
	sim_memc_input(w.c, "mn\r\nset half 0 0 5\r\nab", 22);
	go_on(5 * SECOND_US);
	w.now.wall_us += 5 * SECOND_US;
	sim_memc_restart(w.s, w.now);
	cr_assert(sim_memc_is_closing(w.c));
	cr_assert_eq(sim_memc_output(w.c)->len, 0, "a reply outlived it");
	sim_memc_disconnect(w.c);

	w.c = sim_memc_connect(w.s);
	stats("STAT pid 4712\r\n");
	stats("STAT uptime 2\r\n");
	stats("STAT time 1700000005\r\n");
	cr_assert_not(sim_memc_key(w.s, 0));
	cr_assert_str_eq(ask(w.c, "set k 0 0 1\r\ny\r\ngets k\r\n"),
			 "STORED\r\nVALUE k 0 1 1\r\ny\r\nEND\r\n");
}

/* The flush does not outlive the run. */
Test(sim_memcached, restart_behind_a_flush)
{
	ask(w.c, "set k 0 0 1\r\nx\r\nflush_all\r\n");
	sim_memc_restart(w.s, w.now);
	sim_memc_disconnect(w.c);
	w.c = sim_memc_connect(w.s);
	ask(w.c, "set k 0 0 1\r\nx\r\n");
	cr_assert(sim_memc_value(w.s, "k"));
}

Test(sim_memcached, eviction_takes_one_item)
{
	sim_memc_evict(w.s, 3);
	ask(w.c, "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\n"
		 "set c 0 0 1\r\n3\r\n");
	sim_memc_evict(w.s, 4);
	cr_assert_str_eq(ask(w.c, "get a b c\r\n"),
			 "VALUE a 0 1\r\n1\r\nVALUE c 0 1\r\n3\r\nEND\r\n");
	cr_assert_str_eq(sim_memc_key(w.s, 1), "c");
	cr_assert_not(sim_memc_key(w.s, 2));
	cr_assert_str_eq(sim_bytes_text(sim_memc_value(w.s, "c")), "3");
	cr_assert_not(sim_memc_value(w.s, "b"));
}

Test(sim_memcached, moved_item_has_another_number)
{
	sim_memc_move(w.s, 0);
	ask(w.c, "set a 0 0 1\r\n1\r\nset b 0 0 1\r\n2\r\n");
	sim_memc_move(w.s, 0);
	cr_assert_str_eq(ask(w.c, "mg a c\r\nmg b c\r\n"),
			 "HD c3\r\nHD c2\r\n");
}

Test(sim_memcached, flush_takes_all)
{
	ask(w.c, "set a 0 0 1\r\n1\r\n");
	sim_memc_flush(w.s);
	cr_assert_not(sim_memc_key(w.s, 0));
	cr_assert_str_eq(ask(w.c, "set a 0 0 1\r\n1\r\nmg a c\r\n"),
			 "STORED\r\nHD c3\r\n");
}

Test(sim_memcached, an_item_that_is_over_is_no_key)
{
	ask(w.c, "set a 0 1 1\r\n1\r\n");
	cr_assert(sim_memc_value(w.s, "a"));
	go_on(SECOND_US);
	cr_assert_not(sim_memc_key(w.s, 0));
	cr_assert_not(sim_memc_value(w.s, "a"));
}

Test(sim_memcached, room)
{
	ask(w.c, "set a 0 1 1\r\n1\r\n");
	sim_memc_set_room(w.s, 0);
	cr_assert_eq(strncmp(ask(w.c, "add b 0 0 1\r\n1\r\n"),
			     "SERVER_ERROR out of memory", 26),
		     0);
	go_on(SECOND_US);
	cr_assert_str_eq(ask(w.c, "add b 0 0 1\r\n1\r\n"), "STORED\r\n");
	sim_memc_set_room(w.s, INT64_MAX);
	cr_assert_str_eq(ask(w.c, "add c 0 0 1\r\n1\r\n"), "STORED\r\n");
}
