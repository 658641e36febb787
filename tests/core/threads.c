/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process: how many there are for one client and for ten. */
#include "core/fixture.h"

#include "support/census.h"

TestSuite(threads, .init = fixture, .timeout = 60);

enum { CLIENTS = 10 };

static void opened(dlock_client *c[], int n)
{
	for (int i = 0; i < n; i++)
		c[i] = open_store("mem:", NULL);
}

static void closed(dlock_client *c[], int n)
{
	for (int i = 0; i < n; i++)
		close_store(c[i]);
}

CASE(threads, of_ten_clients_are_those_of_one)
{
	dlock_client *c[CLIENTS];
	struct census before;

	census_take(&before);
	opened(c, 1);
	cr_assert_eq(census_threads("dlock-loop"), 1);
	opened(c + 1, CLIENTS - 1);
	cr_assert_eq(census_threads("dlock-loop"), 1);
	closed(c, CLIENTS);
	census_same(&before);
}
