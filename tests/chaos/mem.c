/* SPDX-License-Identifier: Apache-2.0 */
/* mem: lives and dies with its process, which can only be stopped. */
#include <stdio.h>

#include "chaos/chaos.h"

static int start(struct chaos *c, const char *query)
{
	for (int i = 0; i < 2; i++)
		snprintf(c->uri[i], sizeof(c->uri[i]), "mem:%s", query);
	return 0;
}

static const struct chaos_fault *const faults[] = { &chaos_pause_short,
						    &chaos_pause_long, NULL };

const struct chaos_store chaos_mem = {
	.name = "mem",
	.one_process = true,
	.match = "",
	.start = start,
	.faults = faults,
};
