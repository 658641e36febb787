/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the proxies. */
#include "chaos/chaos.h"

static int heal(struct chaos *c)
{
	lab_proxy_heal(c->proxy);
	return 0;
}

static enum lab_way draw_way(struct chaos *c)
{
	return chaos_chance(c->random, 50) ? LAB_UP : LAB_DOWN;
}

static int delay(struct chaos *c)
{
	lab_proxy_delay(c->proxy, draw_way(c),
			chaos_between(c->random, 1, 2 * c->o.ask_ms));
	return 0;
}

static int drip(struct chaos *c)
{
	lab_proxy_drip(c->proxy, draw_way(c), chaos_between(c->random, 1, 4));
	return 0;
}

static int cut(struct chaos *c)
{
	lab_proxy_cut(c->proxy, draw_way(c), chaos_between(c->random, 0, 300));
	return 0;
}

static int hole_up(struct chaos *c)
{
	lab_proxy_hole(c->proxy, LAB_UP, true);
	return 0;
}

static int hole_down(struct chaos *c)
{
	lab_proxy_hole(c->proxy, LAB_DOWN, true);
	return 0;
}

static int hole(struct chaos *c)
{
	hole_up(c);
	return hole_down(c);
}

static int reset(struct chaos *c)
{
	lab_proxy_reset(c->proxy);
	return 0;
}

static enum lab_then draw_then(struct chaos *c)
{
	return (enum lab_then)chaos_between(c->random, LAB_THEN_NOTHING,
					    LAB_THEN_RESET);
}

static int swallow(struct chaos *c)
{
	lab_proxy_swallow(c->proxy, NULL, draw_then(c));
	return 0;
}

static int swallow_request(struct chaos *c)
{
	lab_proxy_swallow(c->proxy, c->o.store->match, draw_then(c));
	return 0;
}

static int hold(struct chaos *c)
{
	lab_proxy_hold(c->proxy,
		       chaos_chance(c->random, 70) ? c->o.store->match : NULL);
	return 0;
}

static int deliver(struct chaos *c)
{
	lab_proxy_deliver(c->proxy);
	return heal(c);
}

static int half_close(struct chaos *c)
{
	lab_proxy_half_close(c->proxy, draw_way(c));
	return 0;
}

static int refuse(struct chaos *c)
{
	lab_proxy_refuse(c->proxy, true);
	return reset(c);
}

/* Answers come late, but in time.  When all leases count from a late answer, no
 * answer comes at all. */
static int lag(struct chaos *c)
{
	lab_proxy_delay(c->proxy, LAB_DOWN,
			chaos_between(c->random, c->o.ask_ms / 2,
				      c->o.ask_ms * 9 / 10));
	return 0;
}

const struct chaos_fault chaos_net_faults[] = {
	CHAOS_FAULT("delay", CHAOS_NET, 2, 50, 200, .begin = delay,
		    .end = heal),
	CHAOS_FAULT("drip", CHAOS_NET, 1, 50, 150, .begin = drip, .end = heal),
	CHAOS_FAULT("cut", CHAOS_NET, 2, 10, 100, .begin = cut, .end = heal),
	CHAOS_FAULT("hole-up", CHAOS_NET, 1, 10, 200, .begin = hole_up,
		    .end = heal),
	CHAOS_FAULT("hole-down", CHAOS_NET, 1, 10, 200, .begin = hole_down,
		    .end = heal),
	CHAOS_FAULT("hole", CHAOS_NET, 1, 10, 250, .begin = hole, .end = heal),
	CHAOS_FAULT("reset", CHAOS_NET, 2, 0, 1, .begin = reset),
	CHAOS_FAULT("swallow", CHAOS_NET, 2, 30, 60, .begin = swallow,
		    .end = heal),
	CHAOS_FAULT("swallow-request", CHAOS_NET, 2, 30, 60,
		    .begin = swallow_request, .end = heal),
	CHAOS_FAULT("hold", CHAOS_NET, 3, 10, 250, .begin = hold,
		    .end = deliver),
	CHAOS_FAULT("half-close", CHAOS_NET, 1, 0, 1, .begin = half_close),
	CHAOS_FAULT("refuse", CHAOS_NET, 1, 10, 200, .begin = refuse,
		    .end = heal),
	CHAOS_FAULT("lag-hole", CHAOS_NET, 2, 80, 160, .begin = lag,
		    .middle = hole_up, .end = heal),
	CHAOS_NO_FAULT
};
