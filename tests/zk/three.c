/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/three.h"

#include <stdio.h>
#include <stdlib.h>

#include "lab/base/fail.h"

static void end_ensemble(void *e)
{
	lab_ensemble_free(e);
}

static struct lab_ensemble *started(struct lab_ensemble *e)
{
	if (!e)
		FAIL("%s", lab_errmsg());
	at_end(end_ensemble, e);
	return e;
}

struct lab_ensemble *ensemble(const struct lab_zk_options *options)
{
	return started(lab_ensemble_start(options));
}

struct lab_ensemble *linked_ensemble(const struct lab_zk_options *options)
{
	return started(lab_ensemble_start_linked(options));
}

void make_ways(struct lab_proxy *way[LAB_NODES], const struct lab_ensemble *e)
{
	for (int i = 0; i < LAB_NODES; i++)
		way[i] = proxy(e->node[i]);
}

static dlock_client *client_of(const int port[LAB_NODES], const char *params)
{
	char others[256];

	snprintf(others, sizeof(others), ",127.0.0.1:%d,127.0.0.1:%d", port[1],
		 port[2]);
	return client_beside(port[0], others, params);
}

dlock_client *client_of_all(const struct lab_ensemble *e, const char *params)
{
	int port[LAB_NODES];

	for (int i = 0; i < LAB_NODES; i++)
		port[i] = e->node[i]->port;
	return client_of(port, params);
}

dlock_client *client_at(struct lab_proxy *const way[LAB_NODES], int node,
			const char *params)
{
	int port[LAB_NODES];
	dlock_client *c;

	for (int i = 0; i < LAB_NODES; i++) {
		port[i] = lab_proxy_port(way[i]);
		lab_proxy_refuse(way[i], i != node);
	}
	c = client_of(port, params);
	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_refuse(way[i], false);
	return c;
}

dlock_client *slow_client(struct lab_proxy **way, const char *params,
			  int64_t ms)
{
	struct lab_ensemble *e = ensemble(NULL);
	dlock_client *c;

	*way = proxy(e->node[lab_ensemble_follower(e)]);
	c = client(lab_proxy_port(*way), params);
	taken(mutex(c, "lock"));
	lab_proxy_delay(*way, LAB_UP, ms);
	lab_proxy_delay(*way, LAB_DOWN, ms);
	return c;
}

int rounds(int otherwise)
{
	const char *text = getenv("DLOCK_TEST_ROUNDS");

	return text ? (int)strtol(text, NULL, 10) : otherwise;
}
