/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/server.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/memcached/call.h"
#include "sim/memcached/connection.h"

/* The count of a new server starts ahead, so that times before the start are
 * above 0, too. */
enum { SECOND_US = 1000000, FIRST_S = 62 };

static void begin_run(struct sim_memc *s, struct sim_memc_time now)
{
	s->items.now_s = FIRST_S;
	s->items.last_cas = 0;
	s->items.flushed_s = 0;
	s->items.flushed_cas = 0;
	s->began_s = now.up_us / SECOND_US;
	s->started_s = now.wall_us / SECOND_US - FIRST_S;
	s->tick_us = now.up_us + SECOND_US;
}

struct sim_memc *sim_memc_new(uint64_t pid, struct sim_memc_time now)
{
	struct sim_memc *s = sim_alloc(sizeof(*s));

	s->items.room = INT64_MAX;
	s->pid = pid;
	begin_run(s, now);
	return s;
}

void sim_memc_free(struct sim_memc *s)
{
	for (struct sim_memc_conn *c = s->conns, *next; c; c = next) {
		next = c->next;
		sim_memc_disconnect(c);
	}
	mm_items_clear(&s->items);
	free(s);
}

/* ---- Time ---------------------------------------------------------------- */

int64_t sim_memc_tick_due(const struct sim_memc *s)
{
	return s->tick_us;
}

static uint32_t count_at(const struct sim_memc *s, int64_t up_us)
{
	return (uint32_t)(up_us / SECOND_US - s->began_s) + FIRST_S;
}

void sim_memc_tick(struct sim_memc *s, int64_t up_us)
{
	s->items.now_s = count_at(s, up_us);
	s->tick_us = up_us + SECOND_US;
}

/* ---- Connections --------------------------------------------------------- */

struct sim_memc_conn *sim_memc_connect(struct sim_memc *s)
{
	struct sim_memc_conn *c = sim_alloc(sizeof(*c));

	c->server = s;
	c->next = s->conns;
	s->conns = c;
	return c;
}

void sim_memc_disconnect(struct sim_memc_conn *c)
{
	struct sim_memc_conn **at = &c->server->conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	mm_connection_reset(c);
	sim_bytes_free(&c->in);
	sim_bytes_free(&c->out);
	free(c);
}

void sim_memc_input(struct sim_memc_conn *c, const void *bytes, size_t len)
{
	sim_bytes_add(&c->in, bytes, len);
	mm_connection_run(c);
}

struct sim_bytes *sim_memc_output(struct sim_memc_conn *c)
{
	return &c->out;
}

int sim_memc_is_closing(const struct sim_memc_conn *c)
{
	return c->is_closing;
}

/* ---- Events -------------------------------------------------------------- */

void sim_memc_restart(struct sim_memc *s, struct sim_memc_time now)
{
	for (struct sim_memc_conn *c = s->conns; c; c = c->next) {
		c->is_closing = 1;
		mm_connection_reset(c);
		sim_bytes_free(&c->out);
	}
	mm_items_clear(&s->items);
	s->pid++;
	begin_run(s, now);
}

void sim_memc_flush(struct sim_memc *s)
{
	mm_items_flush(&s->items);
}

/* NULL: no item at all. */
static struct mm_item *nth(const struct sim_memc *s, uint64_t n)
{
	struct mm_item *item = s->items.oldest;
	uint64_t all = 0;

	for (const struct mm_item *i = item; i; i = i->newer)
		all++;
	if (all > 0)
		n %= all;
	for (; item && n > 0; n--)
		item = item->newer;
	return item;
}

void sim_memc_evict(struct sim_memc *s, uint64_t n)
{
	struct mm_item *item = nth(s, n);

	if (item)
		mm_items_remove(&s->items, item);
}

void sim_memc_delete(struct sim_memc *s, const char *key)
{
	struct mm_text text = { key, strlen(key) };
	struct mm_item *item = mm_items_find(&s->items, text);

	if (item)
		mm_items_remove(&s->items, item);
}

void sim_memc_move(struct sim_memc *s, uint64_t n)
{
	struct mm_item *item = nth(s, n);

	if (item)
		item->cas = mm_items_next_cas(&s->items);
}

void sim_memc_set_room(struct sim_memc *s, int64_t items)
{
	s->items.room = items;
}

/* ---- Contents ------------------------------------------------------------ */

int64_t sim_memc_born_s(const struct sim_memc *s)
{
	return s->started_s + MM_AHEAD_S;
}

const char *sim_memc_key(const struct sim_memc *s, size_t n)
{
	for (const struct mm_item *i = s->items.oldest; i; i = i->newer) {
		if (!mm_items_is_over(&s->items, i) && n-- == 0)
			return i->key;
	}
	return NULL;
}

static const struct mm_item *live(const struct sim_memc *s, const char *key)
{
	for (const struct mm_item *i = s->items.oldest; i; i = i->newer) {
		if (strcmp(i->key, key) == 0)
			return mm_items_is_over(&s->items, i) ? NULL : i;
	}
	return NULL;
}

const struct sim_bytes *sim_memc_value(const struct sim_memc *s,
				       const char *key)
{
	const struct mm_item *item = live(s, key);

	return item ? &item->value : NULL;
}

int sim_memc_has_expired(const struct sim_memc *s, const char *key,
			 int64_t up_us)
{
	const struct mm_item *item = live(s, key);

	return item && item->end_s != 0 && item->end_s <= count_at(s, up_us);
}
