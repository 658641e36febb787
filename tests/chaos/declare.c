/* SPDX-License-Identifier: Apache-2.0 */
/* What the store is known to have forgotten. */
#include "chaos/chaos.h"
#include "lab/clock.h"

#define FOUND_NS(c) ((c)->o.ttl_ms * LAB_MS / 3 + 100 * LAB_MS + (c)->stall_ns)

/*
 * A holder can only find in time what it can ask for.  So either the way to the
 * store has been whole for a lease, and is left alone until the loss has been
 * found; or nothing is asked but that leases end.
 */
void chaos_wipe_begin(struct chaos *c)
{
	struct chaos_deck *net = &c->deck[CHAOS_NET];
	int64_t now = lab_now();

	c->surely = !net->nfaults ||
		    (!net->now && now - net->since >= c->o.ttl_ms * LAB_MS);
	c->wiping = now;
	if (c->surely)
		net->hush = LAB_FOREVER;
}

void chaos_wipe_end(struct chaos *c, bool surely)
{
	struct chaos_deck *net = &c->deck[CHAOS_NET];
	int64_t quiet = lab_now() + 2 * FOUND_NS(c);

	lab_history_wiped(c->history, "", c->wiping, surely && c->surely);
	if (c->surely)
		net->hush = quiet;
	c->deck[CHAOS_SERVER].hush = quiet;
}
