/* SPDX-License-Identifier: Apache-2.0 */
/* Names without memory, and the reasons of a failure. */
#include <criterion/criterion.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/net/resolver.h"
#include "support/census.h"
#include "support/fault.h"
#include "support/wait.h"
#include "unit/names.h"

static struct dlk_error err;

static int resolve(const char *host, uint16_t port, int64_t ms)
{
	struct dlki_found found;
	int rc = dlki_resolve(&found, host, port, 0, names_until(ms), &err);

	CHECK_INT(rc == 0, ==, found.n > 0);
	return rc;
}

/* The names of the process, the name, and the thread. */
Test(resolve_fault, each_allocation_may_fail)
{
	static const char *const calls[] = { "calloc", "calloc",
					     "pthread_create" };
	struct census before;

	census_take(&before);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		/* The first fault leaves no names, and so does the second. */
		if (i == 1)
			dlki_names_end();
		fault_in(calls[i], 1, ENOMEM);
		CHECK_INT(resolve("pair.test", 1, patience_ms()), ==,
			  DLOCK_ENOMEM);
		CHECK(fault_came());
		CHECK_TEXT(err.text, "memory");
	}
	CHECK_INT(resolve("pair.test", 1, patience_ms()), ==, 0);
	census_same(&before);
}

/* A begin that failed counts no user, and an end of that does no harm. */
Test(resolve_fault, a_user_may_find_no_memory)
{
	fault_in("calloc", 1, ENOMEM);
	dlki_names_begin();
	CHECK(fault_came());
	fault_in("calloc", 1, ENOMEM);
	dlki_names_end();
	CHECK(fault_came());
	dlki_names_end();
	CHECK_INT(dlki_names_here()->base.users, ==, 0);
	dlki_names_begin();
	CHECK_INT(dlki_names_here()->base.users, ==, 1);
	dlki_names_end();
	CHECK_INT(dlki_names_here()->base.users, ==, 0);
}

Test(resolve_fault, the_last_addresses_are_good_without_a_thread)
{
	dlki_names_begin();
	CHECK_INT(resolve("pair.test", 1, patience_ms()), ==, 0);
	fault_in("pthread_create", 1, EAGAIN);
	CHECK_INT(resolve("pair.test", 1, patience_ms()), ==, 0);
	CHECK(fault_came());
	CHECK_INT(names_asked(), ==, 1);
	/* Another port is another name. */
	CHECK_INT(resolve("pair.test", 2, patience_ms()), ==, 0);
	CHECK_INT(names_asked(), ==, 2);
	dlki_names_end();
}

/* A program that asks for more and more names keeps a bounded number. */
Test(resolve_fault, of_many_names_some_are_forgotten)
{
	char host[40];

	dlki_names_begin();
	for (int i = 0; i < 100; i++) {
		snprintf(host, sizeof(host), "%d.absent.test", i);
		CHECK_INT(resolve(host, 1, patience_ms()), ==,
			  DLOCK_EUNREACHABLE);
		CHECK_INT(dlki_names_here()->n, <=, 65);
	}
	CHECK_INT(dlki_names_here()->n, >, 0);
	dlki_names_end();
	EVENTUALLY(dlki_names_here()->n == 0);
}

/* ---- Reasons ------------------------------------------------------------- */

Test(resolve_fault, a_reason_is_the_systems_or_the_names)
{
	static const struct {
		int rc, errnum, code, away;
		const char *text;
	} cases[] = {
		{ EAI_MEMORY, 0, DLOCK_ENOMEM, 1, "memory" },
		{ EAI_SYSTEM, EAGAIN, DLOCK_EEXHAUSTED, 1, "a.test" },
		{ EAI_SYSTEM, EPERM, DLOCK_EDENIED, 1, "a.test" },
		{ EAI_SYSTEM, EMFILE, DLOCK_EEXHAUSTED, 1, "a.test" },
		{ EAI_SYSTEM, ENFILE, DLOCK_EEXHAUSTED, 1, "a.test" },
		{ EAI_SYSTEM, ENOMEM, DLOCK_ENOMEM, 1, "memory" },
		{ EAI_SYSTEM, ECONNREFUSED, DLOCK_EUNREACHABLE, 1, "refused" },
		{ EAI_NONAME, 0, DLOCK_EUNREACHABLE, 0, "no host has" },
		{ EAI_NODATA, 0, DLOCK_EUNREACHABLE, 0, "no host has" },
		{ EAI_AGAIN, 0, DLOCK_EUNREACHABLE, 1, "does not answer" },
		{ EAI_FAIL, 0, DLOCK_EUNREACHABLE, 1, "could not be resolved" },

	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct dlki_found a = { .rc = cases[i].rc,
					      .errnum = cases[i].errnum };

		CHECK_INT(dlki_answer_is_away(a.rc), ==, cases[i].away);
		CHECK_INT(dlki_answer_judge(&a, "a.test", &err), ==,
			  cases[i].code);
		CHECK_TEXT(err.text, cases[i].text);
	}
}
