/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a name that cannot be reached: who may be there. */
#include "core/net/endpoint.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "support/address.h"

static struct dlki_address parsed(const char *text)
{
	struct dlki_address a;

	if (text[0] == '/')
		cr_assert_eq(dlki_address_unix(&a, text, NULL), 0);
	else
		cr_assert_eq(address_tcp(&a, text, 7), 0, "%s", text);
	return a;
}

static void miss(struct dlki_endpoint *p, const char *at, int refused_by)
{
	const struct dlk_error why = { .code = DLOCK_EUNREACHABLE };
	const struct dlki_met m = { .at = parsed(at),
				    .refused_by = refused_by };

	dlki_seen_missed(p, &m, &why);
}

/* Most servers listen at either address of localhost only. */
Test(seen, a_refusal_by_this_host_does_not_count)
{
	static const struct {
		const char *list[3], *refuses;
		int counts;
	} cases[] = {
		{ { "127.0.0.1", "::1" }, "::1", 0 },
		{ { "127.0.0.1", "::1" }, "127.0.0.1", 0 },
		{ { "127.0.0.1", "127.0.0.2" }, "127.0.0.2", 1 },
		{ { "127.0.0.1", "10.0.0.1" }, "127.0.0.1", 1 },
		{ { "127.0.0.1", "::2" }, "127.0.0.1", 1 },
		{ { "127.0.0.1", "::1:0:1" }, "127.0.0.1", 1 },
		{ { "127.0.0.1", "0:0:1::1" }, "127.0.0.1", 1 },
		{ { "127.0.0.1", "0:1::1" }, "127.0.0.1", 1 },
		{ { "127.0.0.1", "fe80::1" }, "127.0.0.1", 1 },
		{ { "::1", "::1", "127.0.0.1" }, "::1", 0 },
		{ { "/run/s" }, "/run/s", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlki_endpoint p = { .n = 0 };

		while (p.n < 3 && cases[i].list[p.n]) {
			p.list[p.n] = parsed(cases[i].list[p.n]);
			p.n++;
		}
		miss(&p, cases[i].refuses, ECONNREFUSED);
		cr_assert_eq(p.refusing[0] != '\0', cases[i].counts, "case %zu",
			     i);
		cr_assert_eq(p.silent[0], '\0');
		cr_assert_eq(p.no_way[0], '\0');
	}
}

Test(seen, without_a_route_another_host_is_not_asked_for)
{
	static const struct {
		const char *at;
		int refused_by, no_way;
	} cases[] = {
		{ "10.0.0.1", ENETUNREACH, 1 },
		{ "::2", EAFNOSUPPORT, 1 },
		{ "::2", EADDRNOTAVAIL, 1 },
		{ "10.0.0.1", EADDRNOTAVAIL, 0 }, /* no port is left */
		{ "10.0.0.1", ETIMEDOUT, 0 },
		{ "10.0.0.9", ENETUNREACH, 0 }, /* the home of before */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlki_endpoint p = { .n = 1 };

		p.list[0] = parsed(cases[i].at);
		p.home_at = parsed("10.0.0.9");
		miss(&p, cases[i].at, cases[i].refused_by);
		cr_assert_eq(p.no_way[0] != '\0', cases[i].no_way, "case %zu",
			     i);
		cr_assert_eq(p.silent[0] != '\0', !cases[i].no_way);
		cr_assert_eq(p.why.code, DLOCK_EUNREACHABLE);
	}
}
