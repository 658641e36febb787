/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/proxy/impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void lab_proxy_aim(struct lab_proxy *p, const struct lab_address *to)
{
	lab_proxy_lock(p);
	p->to = *to;
	lab_proxy_unlock(p);
}

void lab_proxy_delay(struct lab_proxy *p, enum lab_way way, int64_t ms)
{
	lab_proxy_lock(p);
	p->fault[way].delay_ns = ms * LAB_MS;
	lab_proxy_unlock(p);
}

void lab_proxy_drip(struct lab_proxy *p, enum lab_way way, int64_t ms)
{
	lab_proxy_lock(p);
	p->fault[way].drip_ns = ms * LAB_MS;
	lab_proxy_unlock(p);
}

void lab_proxy_cut(struct lab_proxy *p, enum lab_way way, int64_t bytes)
{
	lab_proxy_lock(p);
	p->fault[way].cut = bytes < 0 ? -1 : bytes;
	for (struct lab_link *l = p->links; l; l = l->next)
		l->stream[way].passed = 0;
	lab_proxy_unlock(p);
}

void lab_proxy_hole(struct lab_proxy *p, enum lab_way way, bool on)
{
	lab_proxy_lock(p);
	p->fault[way].hole = on;
	lab_proxy_unlock(p);
}

void lab_proxy_strand(struct lab_proxy *p)
{
	lab_proxy_lock(p);
	for (struct lab_link *l = p->links; l; l = l->next)
		l->stranded = true;
	lab_proxy_unlock(p);
}

static int refuse(struct lab_proxy *p, bool on)
{
	if (on && p->listener >= 0) {
		close(p->listener);
		p->listener = -1;
	}
	return on || p->listener >= 0 ? 0 : lab_proxy_listen(p);
}

void lab_proxy_refuse(struct lab_proxy *p, bool on)
{
	lab_proxy_lock(p);
	refuse(p, on);
	lab_proxy_unlock(p);
}

void lab_proxy_reset(struct lab_proxy *p)
{
	lab_proxy_lock(p);
	for (struct lab_link *l = p->links; l; l = l->next)
		lab_link_reset(p, l);
	lab_proxy_unlock(p);
}

void lab_proxy_half_close(struct lab_proxy *p, enum lab_way way)
{
	lab_proxy_lock(p);
	for (struct lab_link *l = p->links; l; l = l->next)
		l->stream[way].over = true;
	lab_proxy_unlock(p);
}

static void arm(struct lab_once *once, const char *match)
{
	snprintf(once->match, sizeof(once->match), "%s", match ? match : "");
	once->armed = true;
}

void lab_proxy_swallow(struct lab_proxy *p, const char *match,
		       enum lab_then then)
{
	lab_proxy_lock(p);
	arm(&p->swallow, match);
	p->then = then;
	lab_proxy_unlock(p);
}

void lab_proxy_hold(struct lab_proxy *p, const char *match)
{
	lab_proxy_lock(p);
	arm(&p->hold, match);
	lab_proxy_unlock(p);
}

/* Make chunks due at once that are due at `limit` or later. */
static int hurry(struct lab_proxy *p, int64_t limit)
{
	int held = 0;

	for (struct lab_link *l = p->links; l; l = l->next)
		for (int w = 0; w < 2; w++)
			for (struct lab_chunk *c = l->stream[w].head; c;
			     c = c->next) {
				held += c->due == LAB_FOREVER;
				if (c->due >= limit)
					c->due = 0;
			}
	return held;
}

int lab_proxy_deliver(struct lab_proxy *p)
{
	int n;

	lab_proxy_lock(p);
	n = hurry(p, LAB_FOREVER);
	lab_proxy_unlock(p);
	return n;
}

void lab_proxy_heal(struct lab_proxy *p)
{
	lab_proxy_lock(p);
	for (int w = 0; w < 2; w++) {
		memset(&p->fault[w], 0, sizeof(p->fault[w]));
		p->fault[w].cut = -1;
	}
	p->swallow.armed = false;
	p->hold.armed = false;
	for (struct lab_link *l = p->links; l; l = l->next)
		l->swallow = l->stranded = false;
	refuse(p, false);
	hurry(p, 0);
	lab_proxy_unlock(p);
}
