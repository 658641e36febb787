/* SPDX-License-Identifier: Apache-2.0 */
/* mem: lives and dies with its process, which can only be paused. */
#include <stdio.h>

#include "chaos/chaos.h"

static int start_mem(struct chaos *c, const char *query)
{
	for (int i = 0; i < 2; i++)
		snprintf(c->uri[i], sizeof(c->uri[i]), "mem:%s", query);
	return 0;
}

const struct chaos_store chaos_mem = {
	.name = "mem",
	.one_process = true,
	.match = "",
	.start = start_mem,
	.faults = { chaos_pauses },
};
