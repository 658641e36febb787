/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the server's clock is behind, judged by ours.
 *
 * The server counts its age in whole seconds, by a timer.  After a stop of the
 * process, the server reads its sockets before the timer runs, and counts the
 * time of a new item from before the stop: the item may be gone as soon as the
 * item was stored.
 *
 * At the moment when its count advances, the count is right to a second; from
 * then on it is late by the time that has passed.  So a count is trusted for a
 * while after that moment.  We do not see the moment itself, and take the
 * latest request before it, one that was told less.  A clock of which nothing
 * else is known is taken to run.
 *
 * The server may never make up for what it is behind: its machine slept, or its
 * clock is slower than ours.  Two requests between which the count advances
 * show that, too.
 *
 * The same answers tell which run of the server they come from.
 */
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire.h"

#define OLDEST_S UINT32_MAX
#define SECOND (INT64_C(1000) * DLK_MS)

/* Less than MEMC_MORE_S, by the second to which a count is right. */
#define TRUST ((MEMC_MORE_S - 1) * SECOND)

#define QUARTER (250 * DLK_MS) /* more than most batches take nearby */
#define GRACE (1000 * DLK_MS)  /* when the next run is too young */
#define NAP (20 * DLK_MS)
#define STOPPED "%s: the server was stopped for a while"

dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_stats *st,
			     dlk_time asked, dlk_time now)
{
	int64_t count = (int64_t)st->uptime_s * SECOND;
	uint64_t born_s = st->time_s - st->uptime_s;

	if (age->born_s != born_s) {
		age->born_s = born_s;
		age->from = asked - count - SECOND;
		age->uptime_s = st->uptime_s;
		age->asked = asked;
	} else if (st->uptime_s > age->uptime_s) {
		if (age->from < age->asked - count)
			age->from = age->asked - count;
		age->uptime_s = st->uptime_s;
		age->asked = asked;
	} else if (st->uptime_s == age->uptime_s && age->asked < asked) {
		age->asked = asked;
	}
	if (age->from > now - count)
		age->from = now - count;
	return age->from + count + TRUST;
}

/* ---- What `stats` tells -------------------------------------------------- */

struct memc_clock {
	pthread_mutex_t mu; /* protects all; a leaf */
	struct memc_age age;
};

struct memc_clock *dlki_memc_clock_new(void)
{
	struct memc_clock *clock = calloc(1, sizeof(*clock));

	if (clock)
		pthread_mutex_init(&clock->mu, NULL);
	return clock;
}

void dlki_memc_clock_free(struct memc_clock *clock)
{
	pthread_mutex_destroy(&clock->mu);
	free(clock);
}

static void parse_version(const char *text, struct memc_stats *st)
{
	char *end;

	st->major = strtol(text, &end, 10);
	if (*end == '.')
		st->minor = strtol(end + 1, &end, 10);
	if (*end == '.')
		st->patch = strtol(end + 1, &end, 10);
}

static int read_stats_lines(struct memc_conn *c, struct memc_stats *st,
			    dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc;

	while ((rc = dlki_memc_line(c, &line, deadline, err)) == 0 &&
	       strcmp(line, "END") != 0) {
		if (strncmp(line, "STAT ", 5) != 0)
			return dlki_memc_unexpected(c, line, err);
		line += 5;
		if (strncmp(line, "time ", 5) == 0)
			st->time_s = strtoull(line + 5, NULL, 10);
		else if (strncmp(line, "pid ", 4) == 0)
			st->pid = strtoull(line + 4, NULL, 10);
		else if (strncmp(line, "uptime ", 7) == 0)
			st->uptime_s = strtoull(line + 7, NULL, 10);
		else if (strncmp(line, "version ", 8) == 0)
			parse_version(line + 8, st);
	}
	return rc;
}

int dlki_memc_stats_read(struct memc_conn *c, struct memc_stats *st,
			 dlk_time asked, dlk_time deadline,
			 struct dlk_error *err)
{
	struct memc_clock *clock = c->session->clock;
	int rc = read_stats_lines(c, st, deadline, err);

	if (rc != 0)
		return rc;
	if (st->time_s <= st->uptime_s || st->uptime_s > OLDEST_S ||
	    st->major == 0)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server does not tell its time, uptime "
				"and version",
				c->net.peer);
	if (c->born_s != 0 && st->time_s - st->uptime_s != c->born_s) {
		c->changed = 1;
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s: the connection leads to another run of "
				"the server",
				c->net.peer);
	}
	c->seen = asked;
	c->uptime_s = st->uptime_s;
	pthread_mutex_lock(&clock->mu);
	c->trusted = dlki_memc_age_learn(&clock->age, st, asked, dlk_now());
	pthread_mutex_unlock(&clock->mu);
	return 0;
}

/* ---- Asking for it ------------------------------------------------------- */

static int ask_for_stats(struct memc_conn *c, dlk_time deadline,
			 struct dlk_error *err)
{
	struct memc_stats st = { 0 };
	dlk_time asked = dlk_now();
	int rc;

	dlki_memc_put(c, "stats\r\n");
	rc = dlki_memc_send(c, deadline, err);
	return rc != 0 ? rc :
			 dlki_memc_stats_read(c, &st, asked, deadline, err);
}

int dlki_memc_confirm(struct memc_conn *c, dlk_time deadline,
		      struct dlk_error *err)
{
	if (dlk_now() <= c->seen + GRACE)
		return 0;
	return ask_for_stats(c, deadline, err);
}

int dlki_memc_clock_is_fresh(const struct memc_conn *c, dlk_time now)
{
	dlk_time most = c->round_trip + c->round_trip / 4;

	if (most < QUARTER)
		most = QUARTER;
	return now + most <= c->trusted && now + most <= c->seen + GRACE;
}

int dlki_memc_clock_await(struct memc_conn *c, dlk_time deadline,
			  struct dlk_error *err)
{
	for (;;) {
		int rc = ask_for_stats(c, deadline, err);

		if (rc != 0 || dlk_now() <= c->trusted)
			return rc;
		if (dlk_now() + NAP > dlk_deadline(deadline))
			return dlk_fail(err, DLOCK_EUNREACHABLE, STOPPED,
					c->net.peer);
		dlki_memc_sleep_until(dlk_now() + NAP);
	}
}

/* It may make up at once for all that it is behind. */
uint64_t dlki_memc_uptime_most_s(const struct memc_conn *c)
{
	dlk_time since = dlk_now() - c->seen;

	return c->uptime_s + (uint64_t)(since / SECOND) + 1 + MEMC_MORE_S;
}

void dlki_memc_sleep_until(dlk_time until)
{
	struct timespec ts = { until / 1000000000, until % 1000000000 };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		continue;
}
