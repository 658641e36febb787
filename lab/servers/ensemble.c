/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/ensemble.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_MS 60000
/* A refused follower asks again; a follower let in and then turned away holds
 * another election.  A leader listens soon after the election. */
#define PATIENCE_MS 1000

/* The ports that every node knows of every other node at the start. */
struct ports {
	int quorum[LAB_NODES]; /* for followers */
	int votes[LAB_NODES];
};

static int reserve_ports(struct lab_ensemble *e, struct ports *ports)
{
	for (int i = 0; i < LAB_NODES; i++) {
		ports->quorum[i] = lab_reserve_port(&e->reserved[i]);
		ports->votes[i] = lab_reserve_port(&e->reserved[LAB_NODES + i]);
		if (ports->quorum[i] < 0 || ports->votes[i] < 0)
			return -1;
	}
	return 0;
}

static int make_links(struct lab_ensemble *e, const struct ports *ports)
{
	struct lab_proxy_options o = { .patience_ms = PATIENCE_MS };

	for (int from = 0; from < LAB_NODES; from++) {
		for (int to = 0; to < LAB_NODES; to++) {
			if (from == to)
				continue;
			o.to.port = ports->quorum[to];
			e->link[from][to] = lab_proxy_new(&o);
			if (!e->link[from][to])
				return -1;
		}
	}
	return 0;
}

/* The others as node `me` sees them. */
static int plan_node(struct lab_ensemble *e, const struct ports *ports, int me,
		     const char *more)
{
	char lines[LAB_NODES * 64] = "";
	size_t used = 0;

	for (int i = 0; i < LAB_NODES; i++) {
		struct lab_proxy *link = e->link[me][i];

		used += (size_t)snprintf(
			lines + used, sizeof(lines) - used,
			"server.%d=" LAB_LOOPBACK ":%d:%d\n", i + 1,
			link ? lab_proxy_port(link) : ports->quorum[i],
			ports->votes[i]);
	}
	if (asprintf(&e->config[me], "%s%s", lines, more ? more : "") < 0) {
		e->config[me] = NULL;
		return lab_fail("out of memory");
	}
	return 0;
}

static int bring_up_nodes(struct lab_ensemble *e,
			  const struct lab_zk_options *options, bool links)
{
	struct lab_zk_options o = { 0 };
	struct ports ports;

	if (options)
		o = *options;
	if (reserve_ports(e, &ports) < 0 ||
	    (links && make_links(e, &ports) < 0))
		return -1;
	for (int i = 0; i < LAB_NODES; i++) {
		if (plan_node(e, &ports, i, options ? options->config : NULL) <
		    0)
			return -1;
		o.id = i + 1;
		o.config = e->config[i];
		e->node[i] = lab_zk_start(&o);
		if (!e->node[i])
			return -1;
	}
	return lab_ensemble_wait(e, READY_MS);
}

static struct lab_ensemble *start_nodes(const struct lab_zk_options *options,
					bool links)
{
	struct lab_ensemble *e = calloc(1, sizeof(*e));

	if (!e) {
		lab_fail("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(e->reserved) / sizeof(*e->reserved); i++)
		e->reserved[i] = -1;
	if (bring_up_nodes(e, options, links) < 0) {
		lab_ensemble_free(e);
		return NULL;
	}
	return e;
}

struct lab_ensemble *lab_ensemble_start(const struct lab_zk_options *options)
{
	return start_nodes(options, false);
}

struct lab_ensemble *lab_ensemble_start_linked(
	const struct lab_zk_options *options)
{
	return start_nodes(options, true);
}

static int all_serve(void *arg)
{
	struct lab_ensemble *e = arg;

	if (!lab_server_waits())
		return lab_fail("interrupted");
	for (int i = 0; i < LAB_NODES; i++) {
		if (!*lab_zk_mode(e->node[i]))
			return 0;
	}
	return 1;
}

int lab_ensemble_wait(struct lab_ensemble *e, int64_t timeout_ms)
{
	int rc = lab_wait_until(lab_after_ms(timeout_ms), all_serve, e);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	lab_fail("the ensemble does not serve after %" PRId64 " ms",
		 timeout_ms);
	lab_fail_tail(e->node[0]->log);
	return -1;
}

static int node_in_mode(struct lab_ensemble *e, const char *mode)
{
	for (int i = 0; i < LAB_NODES; i++) {
		if (strcmp(lab_zk_mode(e->node[i]), mode) == 0)
			return i;
	}
	return lab_fail("the ensemble has no %s", mode);
}

int lab_ensemble_leader(struct lab_ensemble *e)
{
	return node_in_mode(e, "leader");
}

int lab_ensemble_follower(struct lab_ensemble *e)
{
	return node_in_mode(e, "follower");
}

void lab_ensemble_free(struct lab_ensemble *e)
{
	if (!e)
		return;
	for (int i = 0; i < LAB_NODES; i++) {
		lab_server_free(e->node[i]);
		for (int j = 0; j < LAB_NODES; j++)
			lab_proxy_free(e->link[i][j]);
		free(e->config[i]);
	}
	for (size_t i = 0; i < sizeof(e->reserved) / sizeof(*e->reserved);
	     i++) {
		if (e->reserved[i] >= 0)
			close(e->reserved[i]);
	}
	free(e);
}
