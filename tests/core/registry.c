/* SPDX-License-Identifier: Apache-2.0 */
/* Backends of a program: registration, and the messages of refusals. */
#include "core/support.h"

#include <stdio.h>

#include "dlock_config.h"
#include "support/closed.h"

TestSuite(registry, .timeout = 30);

static const char *scheme_list[] = { "other", NULL, NULL };

static struct dlock_backend sound(void)
{
	return closed_backend(scheme_list);
}

#define WITHOUT(member, text)                                                  \
	do {                                                                   \
		struct dlock_backend b_ = sound();                             \
		b_.member = 0;                                                 \
		INVALID(dlock_backend_register(&b_), text);                    \
	} while (0)

Test(registry, refuses_a_backend_that_lacks_something)
{
	INVALID(dlock_backend_register(NULL), "NULL");
	WITHOUT(size, "dlock_backend.size is 0");
	WITHOUT(schemes, "'schemes'");
	WITHOUT(summary, "'summary'");
	WITHOUT(open, "'open'");
	WITHOUT(close, "'close'");
	WITHOUT(attempt, "'attempt'");
	WITHOUT(release, "'release'");
	WITHOUT(session_size, "session_size");
	WITHOUT(ticket_size, "ticket_size");
}

Test(registry, refuses_half_a_pair)
{
	struct dlock_backend b = sound();

	b.caps = DLOCK_CAP_INSPECT;
	INVALID(dlock_backend_register(&b),
		"backend other: has DLOCK_CAP_INSPECT but no 'inspect': "
		"provide it, or drop the bit");
	b.caps = DLOCK_CAP_RESIZE | DLOCK_CAP_COUNT;
	INVALID(dlock_backend_register(&b), "'resize'");
	b.caps = DLOCK_CAP_LIST;
	INVALID(dlock_backend_register(&b), "'list'");
	b.caps = 0;
	b.list = dlki_mem_backend.list;
	INVALID(dlock_backend_register(&b),
		"has 'list' but not DLOCK_CAP_LIST: set the bit, or leave the "
		"member out");
	b.list = NULL;
	b.inspect = dlki_mem_backend.inspect;
	INVALID(dlock_backend_register(&b), "'inspect'");
	b.inspect = NULL;
	b.watch_wanted = dlki_mem_backend.watch_wanted;
	INVALID(dlock_backend_register(&b),
		"has 'watch_wanted' but no 'revoke'");
}

Test(registry, refuses_capabilities_that_it_does_not_know)
{
	struct dlock_backend b = sound();

	b.caps = UINT32_C(1) << 20;
	INVALID(dlock_backend_register(&b),
		"backend other: caps has bit 20, which this dlock does not "
		"know");
	b.caps = UINT32_C(1) << 31 | DLOCK_CAP_SHARED;
	INVALID(dlock_backend_register(&b), "caps has bit 31");
}

Test(registry, refuses_capabilities_that_lack_another)
{
	static const struct {
		uint32_t bits;
		const char *text;
	} bad[] = {
		{ DLOCK_CAP_FENCE_DURABLE, "FENCE_DURABLE without FENCE" },
		{ DLOCK_CAP_UPGRADE, "UPGRADE without SHARED" },
		{ DLOCK_CAP_RESIZE, "RESIZE without COUNT" },
		{ DLOCK_CAP_PERMITS, "PERMITS without COUNT" },
		{ DLOCK_CAP_REVOKE_PERMITS, "REVOKE_PERMITS without COUNT" },
		{ DLOCK_CAP_REVOKE_PERMITS | DLOCK_CAP_COUNT,
		  "REVOKE_PERMITS without WANTED" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct dlock_backend b = sound();

		b.caps = bad[i].bits;
		INVALID(dlock_backend_register(&b), bad[i].text);
	}
}

Test(registry, takes_what_is_whole)
{
	static const char *schemes[] = { "whole", NULL };
	static struct dlock_backend b;

	b = sound();
	b.schemes = schemes;
	b.caps = DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FENCE | DLOCK_CAP_INSPECT |
		 DLOCK_CAP_LIST;
	b.inspect = dlki_mem_backend.inspect;
	b.list = dlki_mem_backend.list;
	OK(dlock_backend_register(&b));
}

Test(registry, refuses_schemes_that_are_taken_or_ill_formed)
{
	static const struct {
		const char *scheme, *text;
	} bad[] = {
		{ "", "1 to 31 bytes" },
		{ "a23456789012345678901234567890123", "1 to 31 bytes" },
		{ "UPPER", "'UPPER' is no lower-case scheme: a-z first, then "
			   "a-z, 0-9, '+', '-', '.'" },
		{ "a_b", "lower-case" },
		{ "1st", "lower-case" },
		{ "a b", "lower-case" },
		{ "a:b", "lower-case" },
		{ "mem", "'mem' is taken" },
		{ "redis", "'redis' is taken" },
		{ "rediss", "'rediss' is taken" },
		{ "valkeys", "'valkeys' is taken" },
		{ "memcacheds", "'memcacheds' is taken" },
		{ "mem", "by dlock's own store" },
		{ "fake", "'fake' is taken by a backend of the program" },
	};
	struct dlock_backend b = sound();

	OK(fake_register());
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		scheme_list[0] = bad[i].scheme;
		INVALID(dlock_backend_register(&b), bad[i].text);
	}
	scheme_list[0] = "fine";
	scheme_list[1] = "mem";
	INVALID(dlock_backend_register(&b), "'mem' is taken");
	scheme_list[0] = NULL;
	INVALID(dlock_backend_register(&b), "'schemes'");
}

Test(registry, refuses_parameters_that_the_parser_cannot_serve)
{
	static const struct dlk_param clash[] = {
		{ "ttl", DLK_NUMBER, "1", 0, 9, NULL, "text" }, { 0 }
	};
	static const struct dlk_param bad_default[] = {
		{ "size", DLK_NUMBER, "10", 0, 9, NULL, "text" }, { 0 }
	};
	struct dlock_backend b = sound();

	b.params = clash;
	INVALID(dlock_backend_register(&b), "'ttl'");
	b.params = bad_default;
	INVALID(dlock_backend_register(&b), "'size'");
}

struct seen {
	int mem, other, second, fake, redis, n;
	uint32_t caps;
};

static void see_store(const struct dlock_store *store, void *arg)
{
	struct seen *s = arg;

	cr_assert_not_null(store->summary);
	s->n++;
	if (strcmp(store->scheme, "mem") == 0) {
		s->mem++;
		s->caps = store->caps;
		cr_assert_null(store->missing);
	}
	if (strcmp(store->scheme, "rediss") == 0) {
		s->redis++;
#if DLOCK_HAVE_REDIS && DLOCK_HAVE_TLS
		cr_assert_null(store->missing);
		cr_assert(store->caps & DLOCK_CAP_FENCE);
#else
		cr_assert(strstr(store->missing, "-DDLOCK_TLS=ON"));
		cr_assert_eq(store->caps, 0);
#endif
	}
	s->other += strcmp(store->scheme, "other") == 0;
	s->second += strcmp(store->scheme, "other2") == 0;
	s->fake += strcmp(store->scheme, "fake") == 0;
}

Test(registry, serves_what_is_registered)
{
	static struct dlock_backend b;
	static const char *two[] = { "other", "other2", NULL };
	struct seen s = { 0 };
	dlock_client *c = NULL;

	b = sound();
	b.schemes = two;
	OK(dlock_backend_register(&b));
	OK(fake_register());
	INVALID(dlock_backend_register(&b), "'other' is taken");
	REFUSED(dlock_open(&c, "other:", NULL), DLOCK_EDENIED, "no client");
	REFUSED(dlock_open(&c, "OTHER2://h", NULL), DLOCK_EDENIED, "no client");
	cr_assert_null(c);
	dlock_each_store(see_store, &s);
	cr_assert_eq(s.mem, 1);
	cr_assert_eq(s.other, 1);
	cr_assert_eq(s.second, 1);
	cr_assert_eq(s.fake, 1);
	cr_assert_eq(s.redis, 1);
	cr_assert(s.caps & DLOCK_CAP_WAKE);
}

static void see_param(const struct dlock_store_param *p, void *arg)
{
	int *n = arg;

	cr_assert(p->name && p->type && p->range && p->def && p->text);
	++*n;
}

Test(registry, tells_the_parameters_of_each_scheme)
{
	int common = 0, mem = 0, fake = 0;

	OK(fake_register());
	OK(dlock_each_param("zk", see_param, &common));
	OK(dlock_each_param("mem", see_param, &mem));
	OK(dlock_each_param("fake", see_param, &fake));
	cr_assert_geq(common, 9);
	cr_assert_gt(mem, 9);
	cr_assert_gt(fake, mem);
	INVALID(dlock_each_param(NULL, see_param, &mem), "NULL");
	INVALID(dlock_each_param("mem", NULL, &mem), "NULL");
	INVALID(dlock_each_param("redsi", see_param, &mem), "'redis'");
	INVALID(dlock_each_param("postgresql", see_param, &mem),
		"dlock backends");
}

enum { RIVALS = 2, RACES = 2000 };

static struct {
	pthread_barrier_t start;
	char scheme[RACES][16];
	const char *schemes[RACES][2];
	struct dlock_backend backend[RIVALS][RACES];
	int rc[RIVALS][RACES];
} race;

static void *register_each(void *arg)
{
	size_t me = *(const size_t *)arg;

	for (int i = 0; i < RACES; i++) {
		pthread_barrier_wait(&race.start);
		race.rc[me][i] = dlock_backend_register(&race.backend[me][i]);
	}
	return NULL;
}

Test(registry, gives_a_scheme_to_one_of_two_that_want_it_at_once)
{
	size_t number[RIVALS] = { 0, 1 };
	pthread_t thread[RIVALS];

	cr_assert_eq(pthread_barrier_init(&race.start, NULL, RIVALS), 0);
	for (int i = 0; i < RACES; i++) {
		snprintf(race.scheme[i], sizeof(race.scheme[i]), "race%d", i);
		race.schemes[i][0] = race.scheme[i];
		for (int k = 0; k < RIVALS; k++) {
			race.backend[k][i] = sound();
			race.backend[k][i].schemes = race.schemes[i];
		}
	}
	for (int k = 0; k < RIVALS; k++)
		thread[k] = thread_begin(register_each, &number[k]);
	for (int k = 0; k < RIVALS; k++)
		pthread_join(thread[k], NULL);
	for (int i = 0; i < RACES; i++) {
		cr_assert_eq(race.rc[0][i] + race.rc[1][i], DLOCK_EINVAL,
			     "'%s': %d and %d", race.scheme[i], race.rc[0][i],
			     race.rc[1][i]);
	}
	pthread_barrier_destroy(&race.start);
}
