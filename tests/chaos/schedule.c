/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/chaos.h"
#include "lab/base/clock.h"

#define TURN_MS 5

/* Each fault is in the deck as often as it weighs, in random order: a long run
 * deals all faults. */
static void shuffle(struct chaos_deck *k)
{
	size_t j;
	uint8_t card;

	for (size_t i = k->ncards; i > 1; i--) {
		j = (size_t)chaos_between(&k->random, 0, (int64_t)i - 1);
		card = k->cards[j];
		k->cards[j] = k->cards[i - 1];
		k->cards[i - 1] = card;
	}
	k->top = 0;
}

static int64_t draw_time(const struct chaos *c, struct chaos_deck *k, int min,
			 int max)
{
	return chaos_between(&k->random, min * LAB_MS, max * LAB_MS) / 100 *
	       c->o.ttl_ms;
}

/* Mostly short, for many faults; sometimes long, for work. */
static int64_t draw_pause(const struct chaos *c, struct chaos_deck *k)
{
	if (chaos_chance(&k->random, 20))
		return draw_time(c, k, 200, 500);
	return draw_time(c, k, 30, 200);
}

static void add_faults(struct chaos *c, const struct chaos_fault *f)
{
	struct chaos_deck *k;

	for (; f && f->name; f++) {
		k = &c->deck[f->lane];
		for (int i = 0; i < f->weight; i++)
			k->cards[k->ncards++] = (uint8_t)k->nfaults;
		k->faults[k->nfaults++] = f;
	}
}

void chaos_schedule_init(struct chaos *c)
{
	struct chaos_deck *k;

	for (int i = 0; i < CHAOS_TABLES; i++)
		add_faults(c, c->o.store->faults[i]);
	for (int i = 0; i < CHAOS_LANES; i++) {
		k = &c->deck[i];
		k->random.state = c->o.seed ^ ((uint64_t)(i + 1) << 56);
		shuffle(k);
		k->next = lab_now() + draw_pause(c, k);
	}
}

static int begin_fault(struct chaos *c, struct chaos_deck *k)
{
	const struct chaos_fault *f = k->faults[k->cards[k->top]];

	k->dealt[k->cards[k->top]]++;
	if (++k->top == k->ncards)
		shuffle(k);
	chaos_say(c, "%s begins", f->name);
	lab_history_note(c->history, "%s begins", f->name);
	k->half = draw_time(c, k, f->min_pc, f->max_pc);
	k->next = lab_now() + k->half;
	if (!f->middle)
		k->half = 0;
	k->now = f;
	if (f->lane == CHAOS_NET && c->nproxies > 1)
		c->proxy = c->proxies[chaos_between(&k->random, 0,
						    c->nproxies - 1)];
	c->random = &k->random;
	return f->begin(c);
}

static int end_fault(struct chaos *c, struct chaos_deck *k)
{
	const struct chaos_fault *f = k->now;

	k->now = NULL;
	if (f->end && f->end(c) < 0)
		return -1;
	chaos_say(c, "%s ends", f->name);
	lab_history_note(c->history, "%s ends", f->name);
	k->next = lab_now() + draw_pause(c, k);
	return 0;
}

static int pass_middle(struct chaos *c, struct chaos_deck *k)
{
	k->next = lab_now() + k->half;
	k->half = 0;
	return k->now->middle(c);
}

static int run_lane(struct chaos *c, struct chaos_deck *k)
{
	int64_t now = lab_now();

	if (!k->ncards || now < k->next)
		return 0;
	if (k->now)
		return k->half ? pass_middle(c, k) : end_fault(c, k);
	return now < k->quiet_until ? 0 : begin_fault(c, k);
}

int chaos_schedule_run(struct chaos *c, int64_t until)
{
	int64_t before;
	int64_t late;

	while (lab_now() < until && !c->worker_failed) {
		for (int i = 0; i < CHAOS_LANES; i++)
			if (run_lane(c, &c->deck[i]) < 0)
				return -1;
		if (chaos_victims_watch(c) < 0)
			return -1;
		chaos_mix_turn(c);
		before = lab_now();
		lab_nap_ms(TURN_MS);
		late = lab_now() - before - TURN_MS * LAB_MS;
		if (late > c->stall_ns)
			c->stall_ns = late;
	}
	return 0;
}

int chaos_schedule_end(struct chaos *c)
{
	int rc = 0;

	for (int i = 0; i < CHAOS_LANES; i++) {
		if (c->deck[i].now && end_fault(c, &c->deck[i]) < 0)
			rc = -1;
		c->deck[i].next = LAB_FOREVER;
	}
	return rc;
}
