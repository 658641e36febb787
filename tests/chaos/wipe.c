/* SPDX-License-Identifier: Apache-2.0 */
/* Wipes: the times at which the store forgot claims, which is no violation. */
#include "chaos/chaos.h"
#include "lab/base/clock.h"

#define FOUND_NS(c) ((c)->o.ttl_ms * LAB_MS / 3 + 100 * LAB_MS + (c)->stall_ns)

/*
 * A holder finds a loss in time only over a sound network.  So either the
 * network has had no fault for a lease, and has no fault until the loss must
 * have been found; or the judge requires no more than the end of the lease.
 */
void chaos_wipe_begin(struct chaos *c)
{
	struct chaos_deck *net = &c->deck[CHAOS_NET];
	int64_t now = lab_now();

	c->surely = !net->nfaults ||
		    (!net->now && now - net->since >= c->o.ttl_ms * LAB_MS);
	c->wiping = now;
	if (c->surely)
		net->quiet_until = LAB_FOREVER;
}

void chaos_wipe_end(struct chaos *c, bool surely)
{
	struct chaos_deck *net = &c->deck[CHAOS_NET];
	int64_t quiet = lab_now() + 2 * FOUND_NS(c);

	lab_history_wiped(c->history, "", c->wiping, surely && c->surely);
	if (c->surely)
		net->quiet_until = quiet;
	c->deck[CHAOS_SERVER].quiet_until = quiet;
}
