/* SPDX-License-Identifier: Apache-2.0 */
/* zk: a single ZooKeeper server, which keeps the data. */
#include "lab/servers/zookeeper.h"

#include "chaos/chaos.h"

static int start_zk(struct chaos *c, const char *query)
{
	c->server = lab_zk_start(NULL);
	return c->server ? chaos_start_proxies(c, "zk", &c->server, 1, query) :
			   -1;
}

/* The server removes empty directories after a while. */
static int64_t count_left(struct chaos *c)
{
	return lab_zk_number(c->server, "mntr", "zk_ephemerals_count");
}

const struct chaos_store chaos_zk = {
	.name = "zk",
	.leases = true,
	.match = "-x", /* in the names of nodes */
	.try_asks = 5, /* see docs/zookeeper.md, "Tries" */
	.ttl_ms = 1000,
	.ask_ms = 250, /* it writes to a disk before it answers */
	.start = start_zk,
	.left = count_left,
	.faults = { chaos_process_faults, chaos_net_faults, chaos_server_pauses,
		    chaos_server_kill },
};
