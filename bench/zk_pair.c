/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/zk_side.h"

#define PAIRS 1000
#define CLIENTS 2
#define ENOUGH 80 /* pairs: a median of fewer is luck on a busy machine */

/* The clients take the lock by turns. */
struct clients {
	struct bench_lock lock[CLIENTS];
	unsigned int n, next;
};

static int pair(void *clients)
{
	struct clients *c = clients;

	return bench_lock_pair(&c->lock[c->next++ % c->n]);
}

static void close_all(struct clients *c)
{
	while (c->n > 0)
		bench_lock_close(&c->lock[--c->n]);
}

static int open_all(struct clients *c, struct zk_side *s, unsigned int n)
{
	int rc = 0;

	c->n = c->next = 0;
	while (c->n < n && rc == 0) {
		rc = bench_lock_open(&c->lock[c->n], s->run, s->uri);
		c->n += rc == 0;
	}
	if (rc != 0)
		close_all(c);
	return rc;
}

/* What the server hears of one pair. */
static int packets(struct zk_side *s, struct clients *c,
		   struct bench_result *res)
{
	struct zk_packets before, after;
	int rc = zk_packets(s, &before);

	for (int i = 0; rc == 0 && i < PAIRS; i++)
		rc = pair(c);
	if (rc == 0)
		rc = zk_packets(s, &after);
	if (rc != 0)
		return rc;
	bench_extra(res, "packets_per_pair",
		    (after.received - before.received) / PAIRS);
	return 0;
}

/* On a disk all is the writes', which both make as many of; who takes turns
 * with others lists the line, as the recipe does. */
static void limits(const struct zk_side *s, const struct clients *c,
		   struct bench_result *res, double recipe)
{
	if (res->samples < ENOUGH)
		return;
	if (c->n == 1)
		bench_limit(res, (struct bench_limit){ "ns to the floor's",
						       res->ratio, 1 / 0.85, 3,
						       BENCH_TIME });
	if (s->data == ZK_TMPFS)
		bench_limit(res,
			    (struct bench_limit){ "ns to the recipe's", recipe,
						  c->n == 1 ? 1 / 1.2 : 1, 3,
						  BENCH_TIME });
}

static int measure(struct zk_side *s, struct clients *c)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns (ratio = ours/floor in pairs per second)");
	struct bench_result recipe = res;
	struct bench_op ours = { pair, c };
	int rc = bench_pairs(s->run, (struct bench_op){ zk_bare_pair, s }, ours,
			     &res);

	if (rc == 0)
		rc = bench_pairs(s->run, (struct bench_op){ zk_bare_recipe, s },
				 ours, &recipe);
	if (rc == 0)
		rc = packets(s, c, &res);
	if (rc != 0)
		return rc;
	zk_side_text(s, &res);
	bench_extra(&res, "clients", c->n);
	bench_extra(&res, "recipe", recipe.floor);
	bench_extra(&res, "to_recipe", 1 / recipe.ratio);
	limits(s, c, &res, recipe.ratio);
	res.ratio = 1 / res.ratio;
	bench_emit(s->run, &res);
	return 0;
}

static int with_clients(struct zk_side *s, unsigned int n)
{
	struct clients c;
	int rc = open_all(&c, s, n);

	if (rc != 0)
		return rc;
	rc = measure(s, &c);
	close_all(&c);
	return rc;
}

static int with_data(struct bench_run *r, enum zk_data data)
{
	struct zk_side s;
	int rc = zk_side_open(&s, r, data, "");

	if (rc != 0)
		return rc;
	rc = zk_side_connect(&s, NULL, NULL);
	if (rc == 0)
		rc = with_clients(&s, 1);
	if (rc == 0 && data == ZK_TMPFS)
		rc = with_clients(&s, CLIENTS);
	zk_side_close(&s);
	return rc;
}

static int run(struct bench_run *r)
{
	int rc = 0;

	bench_pin(r);
	for (int data = 0; data < ZK_DATAS && rc == 0; data++)
		rc = with_data(r, (enum zk_data)data);
	return rc;
}

const struct bench bench_zk_pair = {
	.name = "zk.pair",
	.summary = "zk: acquire and release, with a token; floor: create and "
		   "delete; recipe: create, list and delete",
	.run = run,
};
