/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/resolver.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/census.h"
#include "support/wait.h"
#include "unit/names.h"

static struct dlki_found found;
static struct dlk_error err;
static struct census before;

static int resolve(struct dlki_found *out, const char *host, int64_t ms,
		   struct dlk_error *err)
{
	memset(err, 0, sizeof(*err));
	return dlki_resolve(out, host, 6379, 0, names_until(ms), err);
}

/* Nor any time. */
Test(resolve, an_address_needs_no_resolver)
{
	CHECK_INT(resolve(&found, "fe80::1%lo", -1, &err), ==, 0);
	CHECK_INT(found.n, ==, 1);
	CHECK_INT(ntohs(found.v[0].to.in6.sin6_port), ==, 6379);
	CHECK_INT(found.v[0].to.in6.sin6_scope_id, !=, 0);
	CHECK_INT(names_asked(), ==, 0);
}

Test(resolve, localhost)
{
	census_take(&before);
	if (resolve(&found, "localhost", patience_ms(), &err) != 0)
		FAIL("%s", err.text);
	CHECK_INT(found.n, >=, 1);
	CHECK_INT(names_asked(), ==, 1);
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
		{ "unread.test", "open files", DLOCK_EEXHAUSTED },
		{ "crowd.test", "the name has 33 addresses; give one address",
		  DLOCK_EUNREACHABLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlk_error err;
		struct dlki_found found;
		int rc = resolve(&found, cases[i].host, patience_ms(), &err);

		CHECK_INT(rc, ==, cases[i].code);
		CHECK_INT(err.code, ==, cases[i].code);
		CHECK_TEXT(err.text, cases[i].host);
		CHECK_TEXT(err.text, cases[i].why);
	}
}

static int64_t late(void)
{
	struct dlk_error err;
	struct dlki_found found;
	int64_t start = now_ms(), took;

	CHECK_INT(resolve(&found, "slow.test", 50, &err), ==,
		  DLOCK_EUNREACHABLE);
	took = now_ms() - start;
	CHECK_INT(took, >=, 49);
	CHECK_TEXT(err.text, "slow.test: the name was not resolved in time");
	return took;
}

/* The thread frees the rest, or the leak checker fails the case. */
Test(resolve, a_slow_resolver_is_left_behind)
{
	census_take(&before);
	CHECK_WITHIN(late(), 50 + slack_ms());
	CHECK(census_grown(&before));
	names_go_on();
	census_same(&before);
}

/* ---- A name service that hangs ------------------------------------------- */

enum { ASKERS = 40 };

static void *ask_in_vain(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		late();
	return NULL;
}

Test(resolve, a_single_look_up_is_under_way_for_all_calls)
{
	pthread_t thread[ASKERS];

	census_take(&before);
	for (int i = 0; i < ASKERS; i++)
		CHECK(pthread_create(&thread[i], NULL, ask_in_vain, NULL) == 0);
	for (int i = 0; i < ASKERS; i++)
		pthread_join(thread[i], NULL);
	CHECK_INT(names_asked(), ==, 1);
	names_go_on();
	census_same(&before);
}

/* Returns the only address of `host`, and the time taken in *ms. */
static const char *address(const char *host, int64_t *ms)
{
	static char text[INET_ADDRSTRLEN];
	struct dlk_error err;
	struct dlki_found found;

	*ms = now_ms();
	if (resolve(&found, host, patience_ms(), &err) != 0)
		FAIL("%s", err.text);
	*ms = now_ms() - *ms;
	CHECK(inet_ntop(AF_INET, &found.v[0].to.in.sin_addr, text,
			sizeof(text)));
	return text;
}

static int64_t known_address(void)
{
	int64_t ms;

	CHECK(strcmp(address("tired.test", &ms), "127.0.0.1") == 0);
	return ms;
}

Test(resolve, the_last_addresses_are_good_while_a_look_up_hangs)
{
	int64_t ms;

	census_take(&before);
	dlki_names_begin();
	known_address();
	CHECK_INT(known_address(), >=,
		  200); /* the call waits for new addresses */
	CHECK_WITHIN(known_address(), slack_ms() / 4);
	CHECK_INT(names_asked(), ==, 2);
	names_go_on();
	EVENTUALLY(strcmp(address("tired.test", &ms), "127.0.0.2") == 0);
	dlki_names_end();
	census_same(&before);
}

Test(resolve, the_last_addresses_are_good_where_the_service_is_away)
{
	int64_t ms;

	dlki_names_begin();
	for (int i = 0; i < 3; i++)
		CHECK(strcmp(address("flaky.test", &ms), "127.0.0.1") == 0);
	CHECK_INT(names_asked(), ==, 3);
	dlki_names_end();
	/* The last user is gone, and so are the addresses. */
	CHECK_INT(resolve(&found, "flaky.test", patience_ms(), &err), ==,
		  DLOCK_EUNREACHABLE);
}

/* The child has neither the parent's look-up nor the parent's locks. */
Test(resolve, a_forked_child_asks_by_itself)
{
	int status;
	pid_t pid;

	dlki_names_begin();
	late();
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		if (resolve(&found, "pair.test", patience_ms(), &err) != 0)
			_exit(1);
		_exit(resolve(&found, "slow.test", 50, &err) == 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, ==, 0);
	dlki_names_end();
	names_go_on();
}
