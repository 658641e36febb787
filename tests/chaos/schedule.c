/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "chaos/chaos.h"
#include "lab/clock.h"

#define TURN_MS 5

/* Each fault as often as it weighs, in an order drawn at random: all of them
 * come in the course of a run that is long enough. */
static void shuffle(struct chaos_deck *k)
{
	size_t j;
	uint8_t card;

	for (size_t i = k->ncards; i > 1; i--) {
		j = (size_t)chaos_between(&k->draw, 0, (int64_t)i - 1);
		card = k->cards[j];
		k->cards[j] = k->cards[i - 1];
		k->cards[i - 1] = card;
	}
	k->top = 0;
}

static int64_t percent(const struct chaos *c, struct chaos_deck *k, int min,
		       int max)
{
	return chaos_between(&k->draw, min * LAB_MS, max * LAB_MS) / 100 *
	       c->o.ttl_ms;
}

/* Mostly short, so that much goes wrong; sometimes long enough for work. */
static int64_t quiet(const struct chaos *c, struct chaos_deck *k)
{
	if (chaos_chance(&k->draw, 20))
		return percent(c, k, 200, 500);
	return percent(c, k, 30, 200);
}

/* Is it among those that were asked for? */
static bool wanted(const struct chaos *c, const struct chaos_fault *f)
{
	const char *at = c->o.only;
	size_t len = strlen(f->name);

	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, f->name, len) == 0 &&
		    (!at[len] || at[len] == ','))
			return true;
	}
	return !c->o.only;
}

void chaos_schedule_init(struct chaos *c)
{
	const struct chaos_fault *const *f = c->o.store->faults;
	struct chaos_deck *k;

	for (; *f; f++) {
		if (!wanted(c, *f))
			continue;
		k = &c->deck[(*f)->lane];
		for (int i = 0; i < (*f)->weight; i++)
			k->cards[k->ncards++] = (uint8_t)k->nfaults;
		k->faults[k->nfaults++] = *f;
	}
	for (int i = 0; i < CHAOS_LANES; i++) {
		k = &c->deck[i];
		k->draw.state = c->o.seed ^ ((uint64_t)(i + 1) << 56);
		shuffle(k);
		k->since = lab_now();
		k->next = k->since + quiet(c, k);
	}
}

/* More than half of the wipes wait for a way that is whole. */
static bool waits(struct chaos *c, struct chaos_deck *k,
		  const struct chaos_fault *f)
{
	struct chaos_deck *net = &c->deck[CHAOS_NET];
	int64_t now = lab_now();

	if (!f->wipes || !net->nfaults)
		return false;
	if (!k->asked && !chaos_chance(&k->draw, 65))
		return false;
	k->asked = true;
	if (!net->now && now - net->since > c->o.ttl_ms * LAB_MS)
		return false;
	net->hush = now + c->o.ttl_ms * LAB_MS;
	k->next = now + 20 * LAB_MS;
	return true;
}

static int begin(struct chaos *c, struct chaos_deck *k)
{
	const struct chaos_fault *f = k->faults[k->cards[k->top]];

	if (waits(c, k, f))
		return 0;
	k->asked = false;
	k->dealt[k->cards[k->top]]++;
	if (++k->top == k->ncards)
		shuffle(k);
	chaos_say(c, "%s begins", f->name);
	lab_history_note(c->history, "%s begins", f->name);
	k->half = percent(c, k, f->min_pc, f->max_pc);
	k->next = lab_now() + k->half;
	if (!f->middle)
		k->half = 0;
	k->now = f;
	if (f->lane == CHAOS_NET && c->nways > 0)
		c->proxy = c->ways[chaos_between(&k->draw, 0, c->nways - 1)];
	return f->begin(c, &k->draw);
}

static int end(struct chaos *c, struct chaos_deck *k)
{
	const struct chaos_fault *f = k->now;

	k->now = NULL;
	if (f->end && f->end(c) < 0)
		return -1;
	chaos_say(c, "%s ends", f->name);
	lab_history_note(c->history, "%s ends", f->name);
	k->since = lab_now();
	k->next = k->since + quiet(c, k);
	return 0;
}

static int middle(struct chaos *c, struct chaos_deck *k)
{
	k->next = lab_now() + k->half;
	k->half = 0;
	return k->now->middle(c);
}

static int turn(struct chaos *c, struct chaos_deck *k)
{
	int64_t now = lab_now();

	if (!k->ncards || now < k->next)
		return 0;
	if (k->now)
		return k->half ? middle(c, k) : end(c, k);
	return now < k->hush ? 0 : begin(c, k);
}

int chaos_schedule_run(struct chaos *c, int64_t until)
{
	int64_t before;
	int64_t late;

	while (lab_now() < until && !c->mishap) {
		for (int i = 0; i < CHAOS_LANES; i++)
			if (turn(c, &c->deck[i]) < 0)
				return -1;
		if (chaos_prey_watch(c) < 0)
			return -1;
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
		if (c->deck[i].now && end(c, &c->deck[i]) < 0)
			rc = -1;
		c->deck[i].next = LAB_FOREVER;
	}
	return rc;
}
