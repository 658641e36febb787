/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of times and the table of ids, against models. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/base/heap.h"
#include "core/base/slots.h"

#define N 500

static uint64_t seed = 88172645463325252u;

static unsigned int draw(unsigned int below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)(seed >> 11) % below;
}

static void check_heap(const struct dlki_heap *h, const struct dlki_timer *t)
{
	dlk_time least = DLK_FOREVER;
	size_t n = 0;

	for (int i = 0; i < N; i++) {
		if (t[i].place == 0)
			continue;
		n++;
		least = t[i].at < least ? t[i].at : least;
		cr_assert_eq(h->v[t[i].place - 1], &t[i]);
	}
	cr_assert_eq(h->n, n);
	cr_assert_eq(dlki_heap_first(h) != NULL, n > 0);
	cr_assert_eq(dlki_heap_next(h), least);
	cr_assert_eq(dlki_heap_due(h, least - 1), NULL);
	if (n > 0)
		cr_assert_eq(dlki_heap_due(h, least), dlki_heap_first(h));
}

Test(heap, knows_the_earliest_whatever_is_set_moved_and_removed)
{
	static struct dlki_timer t[N];
	struct dlki_heap h = { 0 };

	cr_assert_eq(dlki_heap_reserve(&h, N), 0);
	for (int round = 0; round < 20000; round++) {
		struct dlki_timer *one = &t[draw(N)];

		if (draw(3) == 0)
			dlki_heap_remove(&h, one);
		else
			dlki_heap_set(&h, one, draw(1000));
		if (round % 16 == 0)
			check_heap(&h, t);
	}
	while (h.n > 0) {
		dlki_heap_remove(&h, dlki_heap_first(&h));
		check_heap(&h, t);
	}
	dlki_heap_destroy(&h);
	cr_assert_eq(h.room, 0);
}

/* The table does not read claims, so any address will do. */
static struct dlki_claim *claim(unsigned int i)
{
	static char some[N + 1];

	return (struct dlki_claim *)(void *)&some[i];
}

Test(slots, find_what_was_added_and_nothing_that_was_removed)
{
	struct dlki_slots s = { 0 };
	static uint64_t id[N], dead[20000];
	size_t n_dead = 0;

	for (int round = 0; round < 20000; round++) {
		unsigned int i = draw(N);

		if (id[i] == 0) {
			id[i] = dlki_slots_add(&s, claim(i));
			cr_assert_neq(id[i], 0);
		} else {
			dead[n_dead++] = id[i];
			dlki_slots_remove(&s, id[i]);
			dlki_slots_remove(&s, id[i]);
			id[i] = 0;
		}
		i = draw(N);
		if (id[i])
			cr_assert_eq(dlki_slots_find(&s, id[i]), claim(i));
		if (n_dead)
			cr_assert_null(dlki_slots_find(
				&s, dead[draw((unsigned int)n_dead)]));
	}
	for (unsigned int i = 0; i < N; i++) {
		if (id[i])
			cr_assert_eq(dlki_slots_find(&s, id[i]), claim(i));
	}
	cr_assert_leq(s.n, N);
	free(s.v);
}

/* A slot is left alone rather than give an id again. */
Test(slots, give_no_id_again)
{
	struct dlki_slots s = { 0 };
	uint64_t first = dlki_slots_add(&s, claim(1)), last, next;

	dlki_slots_remove(&s, first);
	s.v[0].generation = UINT32_MAX - 1;
	last = dlki_slots_add(&s, claim(1));
	cr_assert_eq((uint32_t)last, (uint32_t)first);
	dlki_slots_remove(&s, last);
	next = dlki_slots_add(&s, claim(1));
	cr_assert_neq((uint32_t)next, (uint32_t)last);
	cr_assert_null(dlki_slots_find(&s, first));
	free(s.v);
}

Test(slots, find_nothing_for_what_never_was_an_id)
{
	struct dlki_slots s = { 0 };
	uint64_t id = dlki_slots_add(&s, claim(1));

	cr_assert_null(dlki_slots_find(&s, 0));
	cr_assert_null(dlki_slots_find(&s, UINT64_MAX));
	cr_assert_null(dlki_slots_find(&s, id + 1));
	cr_assert_null(dlki_slots_find(&s, id + (UINT64_C(1) << 32)));
	dlki_slots_remove(&s, id + 1);
	cr_assert_eq(dlki_slots_find(&s, id), claim(1));
	free(s.v);
}
