/* SPDX-License-Identifier: Apache-2.0 */
#include "core/resolve.h"

#include <criterion/criterion.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "support/census.h"
#include "support/wait.h"
#include "unit/peer.h"

static int resolve(struct addrinfo **out, const char *host, int64_t ms,
		   struct dlk_error *err)
{
	memset(err, 0, sizeof(*err));
	*out = NULL;
	return dlki_resolve(out, host, 6379, NULL, peer_deadline(ms), err);
}

Test(resolve, an_address_needs_no_resolver)
{
	static const struct {
		const char *host;
		int family;
	} cases[] = {
		{ "127.0.0.1", AF_INET },
		{ "::1", AF_INET6 },
		{ "fe80::1%lo", AF_INET6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlk_error err;
		struct addrinfo *list;

		/* Nor time. */
		if (resolve(&list, cases[i].host, -1, &err) != 0)
			FAIL("%s", err.text);
		CHECK_INT(list->ai_family, ==, cases[i].family);
		CHECK_INT(list->ai_socktype, ==, SOCK_STREAM);
		CHECK(!list->ai_next);
		freeaddrinfo(list);
	}
	CHECK_INT(peer_names_resolved(), ==, 0);
}

Test(resolve, an_address_keeps_port_and_scope)
{
	struct dlk_error err;
	struct sockaddr_in6 addr;
	struct addrinfo *list;

	CHECK_INT(resolve(&list, "fe80::1%lo", 1000, &err), ==, 0);
	memcpy(&addr, list->ai_addr, sizeof(addr));
	CHECK_INT(ntohs(addr.sin6_port), ==, 6379);
	CHECK_INT(addr.sin6_scope_id, !=, 0);
	freeaddrinfo(list);
}

Test(resolve, localhost)
{
	struct dlk_error err;
	struct addrinfo *list;
	struct census before;

	census_take(&before);
	if (resolve(&list, "localhost", patience_ms(), &err) != 0)
		FAIL("%s", err.text);
	CHECK(list->ai_family == AF_INET || list->ai_family == AF_INET6);
	freeaddrinfo(list);
	CHECK_INT(peer_names_resolved(), ==, 1);
	census_same(&before);
}

Test(resolve, failures_name_the_host)
{
	static const struct {
		const char *host, *why;
		int code;
	} cases[] = {
		{ "absent.test", "no host has this name", DLOCK_EUNREACHABLE },
		{ "mute.test", "the name service does not answer",
		  DLOCK_EUNREACHABLE },
		{ "full.test", "open files", DLOCK_EEXHAUSTED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlk_error err;
		struct addrinfo *list;
		int rc = resolve(&list, cases[i].host, patience_ms(), &err);

		CHECK_INT(rc, ==, cases[i].code);
		CHECK_INT(err.code, ==, cases[i].code);
		CHECK_TEXT(err.text, cases[i].host);
		CHECK_TEXT(err.text, cases[i].why);
	}
}

static int64_t late(void)
{
	struct dlk_error err;
	struct addrinfo *list;
	int64_t start = now_ms(), took;

	CHECK_INT(resolve(&list, "slow.test", 50, &err), ==,
		  DLOCK_EUNREACHABLE);
	took = now_ms() - start;
	CHECK_INT(took, >=, 49);
	CHECK_TEXT(err.text, "slow.test: the name was not resolved in time");
	return took;
}

static int64_t stopped(void)
{
	const atomic_int stop = 1;
	struct dlk_error err = { 0 };
	struct addrinfo *list;
	int64_t start = now_ms();

	CHECK_INT(dlki_resolve(&list, "slow.test", 6379, &stop,
			       peer_deadline(patience_ms()), &err),
		  ==, DLOCK_EUNREACHABLE);
	return now_ms() - start;
}

Test(resolve, is_over_when_it_is_stopped)
{
	struct census before;

	census_take(&before);
	CHECK_WITHIN(stopped(), slack_ms());
	peer_resolver_goes_on();
	census_same(&before);
}

/* What the thread had is freed by it, or the leak checker tells. */
Test(resolve, a_slow_resolver_is_left_behind)
{
	struct census before;

	census_take(&before);
	CHECK_WITHIN(late(), 50 + slack_ms());
	CHECK(census_grown(&before));
	peer_resolver_goes_on();
	census_same(&before);
}
