/* SPDX-License-Identifier: Apache-2.0 */
/* What may befall the way to the store. */
#include "chaos/chaos.h"

static int heal(struct chaos *c)
{
	lab_proxy_heal(c->proxy);
	return 0;
}

static enum lab_way a_way(struct chaos_draw *d)
{
	return chaos_chance(d, 50) ? LAB_UP : LAB_DOWN;
}

static int delay(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_delay(c->proxy, a_way(d),
			chaos_between(d, 1, 2 * c->o.ask_ms));
	return 0;
}

static int drip(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_drip(c->proxy, a_way(d), chaos_between(d, 1, 4));
	return 0;
}

static int cut(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_cut(c->proxy, a_way(d), chaos_between(d, 0, 300));
	return 0;
}

static int hole_up(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	lab_proxy_hole(c->proxy, LAB_UP, true);
	return 0;
}

static int hole_down(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	lab_proxy_hole(c->proxy, LAB_DOWN, true);
	return 0;
}

static int hole(struct chaos *c, struct chaos_draw *d)
{
	hole_up(c, d);
	return hole_down(c, d);
}

static int reset(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	lab_proxy_reset(c->proxy);
	return 0;
}

static enum lab_then a_then(struct chaos_draw *d)
{
	return (enum lab_then)chaos_between(d, LAB_THEN_NOTHING,
					    LAB_THEN_RESET);
}

static int swallow(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_swallow(c->proxy, NULL, a_then(d));
	return 0;
}

static int swallow_request(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_swallow(c->proxy, c->o.store->match, a_then(d));
	return 0;
}

static int hold(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_hold(c->proxy,
		       chaos_chance(d, 70) ? c->o.store->match : NULL);
	return 0;
}

static int deliver(struct chaos *c)
{
	lab_proxy_deliver(c->proxy);
	return heal(c);
}

static int half_close(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_half_close(c->proxy, a_way(d));
	return 0;
}

static int refuse(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_refuse(c->proxy, true);
	return reset(c, d);
}

/* Answers come late, but in time; and when all leases have been counted from
 * such ones, nothing comes any more. */
static int lag(struct chaos *c, struct chaos_draw *d)
{
	lab_proxy_delay(c->proxy, LAB_DOWN,
			chaos_between(d, c->o.ask_ms / 2,
				      c->o.ask_ms * 9 / 10));
	return 0;
}

static int then_hole(struct chaos *c)
{
	lab_proxy_hole(c->proxy, LAB_UP, true);
	return 0;
}

#define NET(what, text, cards, least, most, begin_fn, end_fn)                  \
	const struct chaos_fault chaos_net_##what = { .name = text,            \
						      .lane = CHAOS_NET,       \
						      .weight = cards,         \
						      .min_pc = least,         \
						      .max_pc = most,          \
						      .begin = begin_fn,       \
						      .end = end_fn }

NET(delay, "delay", 2, 50, 200, delay, heal);
NET(drip, "drip", 1, 50, 150, drip, heal);
NET(cut, "cut", 2, 10, 100, cut, heal);
NET(hole_up, "hole-up", 1, 10, 200, hole_up, heal);
NET(hole_down, "hole-down", 1, 10, 200, hole_down, heal);
NET(hole, "hole", 1, 10, 250, hole, heal);
NET(reset, "reset", 2, 0, 1, reset, NULL);
NET(swallow, "swallow", 2, 30, 60, swallow, heal);
NET(swallow_request, "swallow-request", 2, 30, 60, swallow_request, heal);
NET(hold, "hold", 3, 10, 250, hold, deliver);
NET(half_close, "half-close", 1, 0, 1, half_close, NULL);
NET(refuse, "refuse", 1, 10, 200, refuse, heal);

const struct chaos_fault chaos_net_lag_hole = {
	.name = "lag-hole",
	.lane = CHAOS_NET,
	.weight = 2,
	.min_pc = 80,
	.max_pc = 160,
	.begin = lag,
	.middle = then_hole,
	.end = heal,
};
