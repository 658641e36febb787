/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"
#include "bench/zk_side.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NODE "/bare/handoff"
#define SETTLE_NS 5000000

/* The floor: one deletes the node that the other watches. */
struct bare {
	struct zk_side side;
	int holds;
	pthread_mutex_t mu;
	pthread_cond_t changed;
	int gone;
};

/* The server, which was started before the waiter was forked. */
static const struct zk_side *the_side;

static void on_event(zhandle_t *zh, int type, int state, const char *path,
		     void *context)
{
	struct bare *b = context;

	(void)zh;
	(void)state;
	if (type != ZOO_DELETED_EVENT || strcmp(path, NODE) != 0)
		return;
	pthread_mutex_lock(&b->mu);
	b->gone = 1;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->mu);
}

static int bare_open(struct bench_run *r, const char *where, void *other,
		     void **out)
{
	struct bare *b = calloc(1, sizeof(*b));
	int rc;

	(void)where;
	(void)other;
	if (!b)
		return bench_fail(r, "out of memory");
	pthread_mutex_init(&b->mu, NULL);
	pthread_cond_init(&b->changed, NULL);
	b->side = *the_side;
	b->side.run = r;
	b->side.bare = NULL;
	*out = b;
	rc = zk_side_connect(&b->side, NULL, NULL);
	return rc;
}

static void bare_close(void *lock)
{
	struct bare *b = lock;

	zk_side_disconnect(&b->side);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->mu);
	free(b);
}

/* Make the node, or wait until it goes.  A watch that comes too late, on a busy
 * machine, is one sample among many. */
static int bare_take(void *lock)
{
	struct bare *b = lock;
	int rc = zoo_create(b->side.bare, NODE, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			    ZOO_EPHEMERAL, NULL, 0);

	b->holds = rc == ZOK;
	if (rc != ZNODEEXISTS)
		return zk_side_checked(&b->side, rc, "create");
	b->gone = 0;
	rc = zoo_wexists(b->side.bare, NODE, on_event, b, NULL);
	if (rc != ZOK)
		return rc == ZNONODE ? 0 :
				       zk_side_checked(&b->side, rc, "watch");
	pthread_mutex_lock(&b->mu);
	while (!b->gone)
		pthread_cond_wait(&b->changed, &b->mu);
	pthread_mutex_unlock(&b->mu);
	return 0;
}

static int bare_give(void *lock)
{
	struct bare *b = lock;

	if (!b->holds)
		return 0;
	b->holds = 0;
	return zk_side_checked(&b->side, zoo_delete(b->side.bare, NODE, -1),
			       "delete");
}

static int measure(struct bench_run *r, enum zk_data data)
{
	struct bench_result res =
		BENCH_RESULT_INIT("ns (ratio = p50 / the floor's)");
	struct handoff plan = {
		.floor = { bare_open, bare_close, bare_take, bare_give, NULL },
		.ours = handoff_dlock,
		.settle_ns = SETTLE_NS,
	};
	struct zk_side s;
	int rc;

	bench_pin(r);
	rc = zk_side_open(&s, r, data, "");
	if (rc != 0)
		return rc;
	the_side = &s;
	plan.our_where = s.uri;
	rc = handoff_measure(r, &plan, &res);
	if (rc == 0) {
		zk_side_text(&s, &res);
		bench_limit(&res, (struct bench_limit){ "ratio", res.ratio,
							1.25, 3, BENCH_TIME });
		bench_emit(r, &res);
	}
	zk_side_close(&s);
	return rc;
}

static int run(struct bench_run *r)
{
	int rc = 0;

	for (int data = 0; data < ZK_DATAS && rc == 0; data++)
		rc = measure(r, (enum zk_data)data);
	return rc;
}

const struct bench bench_zk_handoff = {
	.name = "zk.handoff",
	.summary = "zk: from release to a waiter in another process; floor: "
		   "from delete to who watches the node",
	.run = run,
};
