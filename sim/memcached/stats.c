/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "sim/memcached/commands.h"

static size_t count(const struct mm_items *all)
{
	size_t n = 0;

	for (const struct mm_item *i = all->oldest; i; i = i->newer)
		n++;
	return n;
}

/* A few of memcached's lines.  "time" is the time of the start plus the count:
 * the machine's clock may have been set since. */
void mm_stats(struct mm_call *call)
{
	const struct sim_memc *s = call->conn->server;

	if (call->words.n > 1) {
		mm_reply(call, "ERROR");
		return;
	}
	sim_bytes_printf(&call->conn->out,
			 "STAT pid %" PRIu64 "\r\nSTAT uptime %" PRIu32
			 "\r\nSTAT time %" PRId64 "\r\n"
			 "STAT version 1.6.18\r\nSTAT pointer_size 64\r\n"
			 "STAT curr_items %zu\r\n",
			 s->pid, s->items.now_s - MM_AHEAD_S,
			 s->started_s + s->items.now_s, count(&s->items));
	mm_reply(call, "END");
}
