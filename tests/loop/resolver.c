/* SPDX-License-Identifier: Apache-2.0 */
/* Names, looked up by a thread in the real world. */
#include "core/net/resolver.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/net/endpoint.h"
#include "core/world/real.h"
#include "support/census.h"
#include "support/wait.h"
#include "tests/loop/driven.h"
#include "tests/loop/lines.h"
#include "tests/loop/stress/server.h"
#include "unit/names.h"

static struct census before;
static struct dlki_world *world;
static struct dlki_lookup lookup;
static struct dlki_found found;

static void begin(void)
{
	struct dlk_error err;

	census_take(&before);
	world = dlki_real_new(&err);
	cr_assert_not_null(world);
}

static void end(void)
{
	dlki_real_free(world);
	names_go_on();
	census_same(&before);
}

TestSuite(resolver, .init = begin, .fini = end);

/* Without threads: the answer is there at once. */
Test(resolver, the_caller_looks_up)
{
	struct census then;

	world->resolves = 1;
	census_take(&then);
	dlki_lookup_begin(&lookup, world, "slow.test", 7000);
	census_same(&then);
	dlki_lookup_end(&lookup);
	dlki_lookup_begin(&lookup, world, "pair.test", 7000);
	cr_assert(dlki_lookup_take(&lookup, &found));
	cr_assert_eq(found.rc, 0);
	cr_assert_eq(found.n, 2);
	cr_assert_eq(dlki_lookup_take(&lookup, &found), 0, "once");
}

static struct dlki_lookup ending;
static pthread_t ender;
static atomic_int counted;

static void *end_it(void *arg)
{
	dlki_lookup_end(arg);
	return NULL;
}

/* While the thread tells of the answer, the next look-up to be told ends. */
static void kick_and_end(struct dlki_world *w, enum dlki_set set)
{
	(void)w;
	(void)set;
	cr_assert_eq(pthread_create(&ender, NULL, end_it, &ending), 0);
	nap_ms(20);
}

static void count_kick(struct dlki_world *w, enum dlki_set set)
{
	(void)w;
	(void)set;
	counted++;
}

Test(resolver, a_look_up_may_end_as_the_answer_comes)
{
	static const struct dlki_world_type ends = { .kick = kick_and_end };
	static const struct dlki_world_type counts = { .kick = count_kick };
	struct dlki_world first = { .type = &ends },
			  second = { .type = &counts };

	dlki_lookup_begin(&ending, &second, "slow.test", 7000);
	dlki_lookup_begin(&lookup, &first, "slow.test", 7000);
	names_go_on();
	EVENTUALLY(dlki_lookup_take(&lookup, &found));
	pthread_join(ender, NULL);
	cr_assert_eq(counted, 1);
	cr_assert_eq(dlki_lookup_take(&ending, &found), 0);
}

Test(resolver, an_address_is_no_name)
{
	static const struct {
		const char *host;
		int family;
	} cases[] = {
		{ "127.0.0.1", AF_INET },
		{ "::1", AF_INET6 },
		{ "fe80::1%lo", AF_INET6 },
	};
	struct dlki_address a;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(dlki_lookup_literal(cases[i].host, 7000, &a), 0);
		cr_assert_eq(a.to.any.sa_family, cases[i].family);
		cr_assert_eq(ntohs(a.to.in.sin_port), 7000);
	}
	cr_assert_neq(a.to.in6.sin6_scope_id, 0);
	cr_assert_eq(dlki_lookup_literal("pair.test", 7000, &a), DLOCK_EINVAL);
	cr_assert_eq(names_asked(), 0);
}

/* ---- With an engine ------------------------------------------------------ */

static void open_engine(const char *host, uint16_t port)
{
	const struct dlki_engine_options options = {
		.world = world,
		.protocol = &lines_protocol,
		.place.host = host,
		.place.port = port,
		.connect_ms = patience_ms(),
		.patience_ms = patience_ms(),
	};
	struct dlk_error err;

	engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(engine, "%s", err.text);
	cr_assert_eq(dlki_drive_begin(engine, NULL, &err), 0);
}

static void close_engine(void)
{
	dlki_drive_end(engine);
	dlki_engine_free(engine);
}

/* An attempt, to the end. */
static enum dlki_outcome ask(int64_t ms)
{
	struct call c;

	prepare(&c, DLKI_ATTEMPT, 0, dlk_now() + ms * DLK_MS, 1);
	return call_out(&c);
}

static void *go_on(void *arg)
{
	(void)arg;
	nap_ms(20);
	names_go_on();
	return NULL;
}

Test(resolver, an_answer_wakes_the_thread_that_waits)
{
	uint16_t port = server_start(0);
	pthread_t thread;

	open_engine("slow.test", port);
	pthread_create(&thread, NULL, go_on, NULL);
	cr_assert_eq(ask(2 * patience_ms()), DLKI_GRANTED);
	pthread_join(thread, NULL);
	close_engine();
	server_stop();
}

static int64_t freed_in(void)
{
	int64_t begun = now_ms();

	close_engine();
	return now_ms() - begun;
}

/* The thread outlives the engine, and does not kick the freed world. */
Test(resolver, a_look_up_that_hangs_is_left_behind)
{
	const struct dlki_world_type *real = world->type;
	struct dlki_world_type counting = *real;
	struct census opened;

	census_take(&opened);
	open_engine("slow.test", 7000);
	cr_assert_eq(ask(20), DLKI_UNSENT);
	EVENTUALLY(names_asked() == 1);
	CHECK_WITHIN(freed_in(), slack_ms());
	counting.kick = count_kick;
	world->type = &counting;
	names_go_on();
	census_same(&opened);
	cr_assert_eq(counted, 0);
	world->type = real;
}

Test(resolver, a_path_that_does_not_fit_is_refused)
{
	char path[200];
	const struct dlki_engine_options options = {
		.world = world,
		.protocol = &lines_protocol,
		.place.path = path,
	};
	struct dlk_error err;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	cr_assert_null(dlki_engine_new(&options, &err));
	cr_assert_eq(err.code, DLOCK_EINVAL);
	cr_assert_not_null(strstr(err.text, "1 to 107 bytes, not 199"));
}
