/* SPDX-License-Identifier: Apache-2.0 */
/* zk: one ZooKeeper server, which keeps its data. */
#include "lab/zookeeper.h"

#include <stdio.h>

#include "chaos/chaos.h"
#include "lab/fail.h"

static int start(struct chaos *c, const char *query)
{
	struct lab_proxy_options way = { 0 };
	int port;

	c->server = lab_zk_start(NULL);
	if (!c->server)
		return -1;
	way.to = lab_server_address(c->server);
	c->proxy = lab_proxy_new(&way);
	if (!c->proxy)
		return -1;
	for (int i = 0; i < 2; i++) {
		port = i ? c->server->port : lab_proxy_port(c->proxy);
		snprintf(c->uri[i], sizeof(c->uri[i]),
			 "zk://" LAB_LOOPBACK ":%d/%s", port, query);
	}
	return 0;
}

static void stop(struct chaos *c)
{
	lab_proxy_free(c->proxy);
	lab_server_free(c->server);
}

/* Directories stay until the server finds that they are empty. */
static int64_t left(struct chaos *c)
{
	return lab_zk_number(c->server, "mntr", "zk_ephemerals_count");
}

static const struct chaos_fault *const faults[] = {
	CHAOS_PREY_FAULTS,        CHAOS_NET_FAULTS,   &chaos_server_pause_short,
	&chaos_server_pause_long, &chaos_server_kill, NULL
};

const struct chaos_store chaos_zk = {
	.name = "zk",
	.leases = true,
	.match = "-x", /* in the names of nodes */
	.ttl_ms = 1000,
	.ask_ms = 250, /* it writes to a disk before it answers */
	.start = start,
	.stop = stop,
	.left = left,
	.faults = faults,
};
