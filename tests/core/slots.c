/* SPDX-License-Identifier: Apache-2.0 */
/* The table of ids. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/base/slots.h"

/* The table does not read claims, so any address will do. */
static struct dlki_claim *claim(unsigned int i)
{
	static char some[2];

	return (struct dlki_claim *)(void *)&some[i];
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
