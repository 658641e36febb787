/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a model ZooKeeper besides requests. */
#include <criterion/criterion.h>

#include "sim/zk/frames.h"
#include "sim/zk/jute.h"
#include "sim/zk/op.h"
#include "sim/zk/server.h"

TestSuite(sim_zk, .timeout = 60);

enum { MS = 1000, TICK_MS = 100, TIMEOUT_MS = 1000 };

struct world {
	struct sim_zk *s;
	struct sim_zk_time now;
};

static struct world begin(void)
{
	struct sim_zk_options o = { .tick_ms = TICK_MS,
				    .followers = 2,
				    .link_us = MS };
	struct world w = { .now = { 1000 * MS, INT64_C(1700000000) * MS } };

	w.s = sim_zk_new(&o, w.now);
	return w;
}

static void go_on(struct world *w, int64_t ms)
{
	for (int64_t end = w->now.up_us + ms * MS; w->now.up_us < end;) {
		int64_t due = sim_zk_due(w->s);

		w->now.up_us = due < end ? due : end;
		sim_zk_ring(w->s, w->now);
	}
}

/* Return how many bytes the server has answered a moment later. */
static size_t ask(struct world *w, struct sim_zk_conn *c, struct sim_bytes *b)
{
	sim_bytes_take(sim_zk_output(c), sim_zk_output(c)->len);
	sim_zk_input(c, sim_bytes_text(b), b->len, w->now);
	sim_bytes_free(b);
	go_on(w, 10);
	return sim_zk_output(c)->len;
}

static struct sim_zk_conn *connect_to(struct world *w, int n)
{
	struct sim_zk_conn *c = sim_zk_connect(w->s, n);
	struct sim_bytes b = { 0 };
	size_t frame = zk_frame_open(&b);

	zk_put_int(&b, 0);
	zk_put_long(&b, 0);
	zk_put_int(&b, TIMEOUT_MS);
	zk_put_long(&b, 0);
	zk_put_text(&b, "0123456789abcdef", 16);
	zk_frame_end(&b, frame);
	ask(w, c, &b);
	return c;
}

/* Return how many bytes the server has answered. */
static size_t sync_root(struct world *w, struct sim_zk_conn *c, int32_t xid)
{
	struct sim_bytes b = { 0 };
	size_t frame = zk_frame_open(&b);

	zk_put_int(&b, xid);
	zk_put_int(&b, ZK_SYNC);
	zk_put_text(&b, "/", 1);
	zk_frame_end(&b, frame);
	return ask(w, c, &b);
}

static size_t create(struct world *w, struct sim_zk_conn *c, int32_t xid,
		     const char *path)
{
	struct sim_bytes b = { 0 };
	size_t frame = zk_frame_open(&b);

	zk_put_int(&b, xid);
	zk_put_int(&b, ZK_CREATE);
	zk_put_text(&b, path, 2);
	zk_put_text(&b, "", 0);
	zk_put_int(&b, 0);
	zk_put_int(&b, ZK_EPHEMERAL);
	zk_frame_end(&b, frame);
	return ask(w, c, &b);
}

Test(sim_zk, a_former_leader_answers_syncs_and_no_writes)
{
	struct world w = begin();
	struct sim_zk_conn *c = connect_to(&w, 0), *d;

	cr_assert_gt(create(&w, c, 1, "/a"), 0);
	sim_zk_elect(w.s, 1, w.now.up_us + 50 * MS, w.now.up_us + 200 * MS);
	cr_assert_gt(sync_root(&w, c, 2), 0);
	d = connect_to(&w, 1);
	cr_assert(sim_zk_is_closing(d), "the election is not over");
	go_on(&w, 50);
	cr_assert_eq(create(&w, c, 3, "/b"), 0);
	go_on(&w, 200);
	cr_assert(sim_zk_is_closing(c));
	cr_assert_str_eq(sim_zk_ephemeral(w.s, 0), "/a");
	cr_assert_null(sim_zk_ephemeral(w.s, 1), "the write is not lost");
	sim_zk_free(w.s);
}

Test(sim_zk, a_new_leader_gives_each_session_a_whole_timeout)
{
	struct world w = begin();
	struct sim_zk_conn *c = connect_to(&w, 2);

	cr_assert_gt(create(&w, c, 1, "/a"), 0);
	sim_zk_disconnect(c);
	go_on(&w, TIMEOUT_MS - 2 * TICK_MS);
	sim_zk_elect(w.s, 1, w.now.up_us, w.now.up_us);
	go_on(&w, TIMEOUT_MS - 1);
	cr_assert_str_eq(sim_zk_ephemeral(w.s, 0), "/a");
	go_on(&w, TICK_MS + 2);
	cr_assert_null(sim_zk_ephemeral(w.s, 0));
	sim_zk_free(w.s);
}
