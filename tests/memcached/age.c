/* SPDX-License-Identifier: Apache-2.0 */
/* The judgement of the server's clock, against a server made of arithmetic. */
#include "support.h"

#include <stdlib.h>

#include "backends/memcached/protocol/run.h"
#include "core/base/clock.h"

#define MS DLK_MS
#define SECOND (1000 * MS)

/* The timer runs a second after the last run, or later, and counts whole
 * seconds of the server's clock. */
struct toy {
	unsigned int seed;
	int64_t lag; /* the timer's, at most */
	dlk_time now;
	dlk_time slept; /* lag of the server's clock behind the client's */
	dlk_time timer; /* when that runs next */
	uint64_t count;
};

static int64_t up_to(struct toy *t, int64_t most)
{
	return most > 0 ? rand_r(&t->seed) % (most / 1000 + 1) * 1000 : 0;
}

/* Time passes with the server running. */
static void go(struct toy *t, dlk_time until)
{
	while (t->timer <= until) {
		t->count = (uint64_t)((t->timer - t->slept) / SECOND);
		t->timer += SECOND + up_to(t, t->lag);
	}
	t->now = until;
}

/* Time passes with the server stopped; the server serves sockets next. */
static void stop(struct toy *t, dlk_time until)
{
	if (t->timer < until)
		t->timer = until + 1;
	t->now = until;
}

static struct toy toy_new(unsigned int seed, int64_t lag)
{
	struct toy t = { .seed = seed * 2654435761U, .lag = lag };

	t.now = 100 * SECOND + up_to(&t, SECOND);
	t.timer = t.now + up_to(&t, SECOND) + lag;
	t.count = 99;
	go(&t, t.now + 3 * SECOND);
	return t;
}

/* Over a connection that stands. */
static dlk_time learn(struct memc_age *age, const struct memc_stats *st,
		      dlk_time asked, dlk_time now)
{
	return dlki_memc_age_learn(age, st, asked, asked, now);
}

/* Ask, with pauses of up to `most` before and after the server reads the clock;
 * *stored: the time of that. */
static dlk_time ask_age(struct toy *t, struct memc_age *age, int64_t most,
			dlk_time *stored)
{
	struct memc_stats a = { .time_s = 1000 + t->count,
				.uptime_s = t->count };
	dlk_time asked = t->now - up_to(t, most);

	*stored = t->now;
	go(t, t->now + up_to(t, most));
	return learn(age, &a, asked, t->now);
}

/* Return the least life of an item stored now. */
static int64_t life(const struct toy *t, uint64_t count, dlk_time stored,
		    int64_t ttl_s)
{
	return ((int64_t)count + ttl_s + MEMC_MORE_S) * SECOND + t->slept -
	       stored;
}

Test(memcached_age, what_is_trusted_lives_as_long_as_promised)
{
	int trusted = 0, refused = 0;

	for (unsigned int seed = 1; seed <= 20000; seed++) {
		struct toy t = toy_new(seed, (int64_t)(seed % 5) * 50 * MS);
		struct memc_age age = { 0 };

		for (int i = 0; i < 30; i++) {
			dlk_time until, stored;
			uint64_t count = t.count;

			until = ask_age(&t, &age, 50 * MS, &stored);
			/* There may be another batch that does not ask. */
			if (until >= t.now && up_to(&t, 2000) == 0) {
				stop(&t, t.now + up_to(&t, 3 * SECOND));
				stored = t.now;
				count = t.count;
			}
			if (t.now <= until) {
				trusted++;
				CHECK_INT(life(&t, count, stored, 5), >=,
					  5 * SECOND);
			} else {
				refused++;
			}
			go(&t, t.now + up_to(&t, 3 * SECOND));
			if (up_to(&t, 2000) == 0)
				stop(&t, t.now + up_to(&t, 5 * SECOND));
		}
	}
	CHECK_INT(trusted, >, refused);
	CHECK_INT(refused, >, 1000);
}

/* From the second look on: little is known of a server before. */
Test(memcached_age, who_looks_often_trusts_a_server_that_goes)
{
	for (unsigned int seed = 1; seed <= 2000; seed++) {
		struct toy t = toy_new(seed, 100 * MS);
		struct memc_age age = { 0 };
		dlk_time begun = t.now, until, stored;

		for (int i = 0; i < 300; i++) {
			until = ask_age(&t, &age, 10 * MS, &stored);
			if (t.now - begun > 2 * SECOND)
				CHECK_INT(until, >=, t.now);
			go(&t, t.now + up_to(&t, 700 * MS));
		}
	}
}

/* Whatever the timer's drift, the client must ask more closely once at most. */
Test(memcached_age, who_looks_seldom_trusts_a_server_that_goes)
{
	int refused = 0;

	for (unsigned int seed = 1; seed <= 2000; seed++) {
		struct toy t = toy_new(seed, 5 * MS);
		struct memc_age age = { 0 };
		int episodes = 0;

		for (int i = 0; i < 300; i++) {
			dlk_time stored, until;

			until = ask_age(&t, &age, 10 * MS, &stored);
			episodes += until < t.now;
			while (until < t.now) {
				go(&t, t.now + 20 * MS);
				until = ask_age(&t, &age, 10 * MS, &stored);
			}
			go(&t, t.now + up_to(&t, 10 * SECOND));
		}
		CHECK_INT(episodes, <=, 1);
		refused += episodes;
	}
	CHECK_INT(refused, >, 0);
}

/* The machine slept for a minute, and the server's clock never catches up. */
Test(memcached_age, what_is_lost_for_good_is_believed_within_a_second)
{
	for (unsigned int seed = 1; seed <= 2000; seed++) {
		struct toy t = toy_new(seed, 20 * MS);
		struct memc_age age = { 0 };
		dlk_time stored, until = ask_age(&t, &age, 10 * MS, &stored);
		dlk_time awake;

		go(&t, t.now + up_to(&t, 10 * SECOND));
		until = ask_age(&t, &age, 10 * MS, &stored);
		t.now += 60 * SECOND;
		t.slept += 60 * SECOND;
		t.timer += 60 * SECOND;
		awake = t.now;
		do {
			until = ask_age(&t, &age, 10 * MS, &stored);
			go(&t, t.now + 20 * MS);
		} while (t.now > until);
		CHECK_INT(t.now - awake, <=, 1100 * MS);
		for (int i = 0; i < 50; i++) {
			until = ask_age(&t, &age, 10 * MS, &stored);
			CHECK_INT(until, >=, t.now);
			go(&t, t.now + 100 * MS);
		}
	}
}

/* ---- A few answers ------------------------------------------------------- */

static struct memc_age age;
static struct memc_stats st = { .time_s = 5000, .uptime_s = 4000 };
static dlk_time t = 9000 * SECOND;

/* Another run of the server is judged by itself. */
Test(memcached_age, begins_anew_with_another_server)
{
	struct memc_stats fresh = { .time_s = 5005, .uptime_s = 3 };

	CHECK_INT(learn(&age, &st, t, t), >=, t);
	t += 5 * SECOND;
	CHECK_INT(learn(&age, &fresh, t, t), >=, t);
	t += 10 * SECOND;
	CHECK_INT(learn(&age, &fresh, t, t), <, t);
}

/* The server may have been stopped when the first request was sent. */
Test(memcached_age, of_a_slow_first_answer_is_trusted_once_it_advances)
{
	CHECK_INT(learn(&age, &st, t, t + 300 * MS), <, t);
	t += 300 * MS;
	CHECK_INT(learn(&age, &st, t, t), <, t);
	st.time_s += 7;
	st.uptime_s += 7;
	t += 20 * MS;
	CHECK_INT(learn(&age, &st, t, t), >, t);
}

/* The server may have been stopped in the midst of the handshake of TLS. */
Test(memcached_age, behind_a_slow_connection_is_trusted_once_it_advances)
{
	CHECK_INT(dlki_memc_age_learn(&age, &st, t - 300 * MS, t, t + MS), <,
		  t);
	t += 20 * MS;
	CHECK_INT(learn(&age, &st, t, t), <, t);
	st.time_s += 7;
	st.uptime_s += 7;
	t += 20 * MS;
	CHECK_INT(learn(&age, &st, t, t), >, t);
}

Test(memcached_age, behind_a_connection_over_a_long_way_is_trusted)
{
	CHECK_INT(dlki_memc_age_learn(&age, &st, t - 800 * MS, t, t + 200 * MS),
		  >, t + 200 * MS);
}

/* Over a long way the clock is known no longer when the answer to a batch
 * comes, unless the same batch asks for the clock. */
Test(memcached_age, is_asked_for_sooner_over_a_long_way)
{
	struct memc_run run = { 0 };
	dlk_time round_trip = 0, now = 9000 * SECOND;

	run.seen = now - 500 * MS;
	run.trusted = now + 10 * SECOND;
	CHECK(dlki_memc_run_is_fresh(&run, round_trip, now));
	round_trip = 700 * MS;
	CHECK(!dlki_memc_run_is_fresh(&run, round_trip, now));
	run.seen = now;
	CHECK(dlki_memc_run_is_fresh(&run, round_trip, now));
	run.trusted = now + 800 * MS;
	CHECK(!dlki_memc_run_is_fresh(&run, round_trip, now));
}

/* The run before tells when the other began, though that run was asked for the
 * first time behind a stop. */
Test(memcached_age, of_another_run_is_judged_by_the_run_before)
{
	struct memc_stats goes = { .time_s = 5060, .uptime_s = 50 };
	struct memc_stats stood = { .time_s = 5019, .uptime_s = 9 };
	struct memc_stats far = { .time_s = INT64_MAX, .uptime_s = 1 };
	struct memc_age same;

	CHECK_INT(learn(&age, &st, t, t), >=, t);
	same = age;
	t += 60 * SECOND;
	CHECK_INT(learn(&same, &goes, t, t), >=, t);
	same = age;
	CHECK_INT(learn(&same, &stood, t, t), <, t);
	CHECK_INT(learn(&age, &far, t, t), <, t);
	CHECK_INT(learn(&age, &st, t, t), <, t);
}
