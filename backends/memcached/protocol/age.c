/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the server's clock is behind, judged by ours.
 *
 * The server counts the uptime in whole seconds, by a timer.  After a stop of
 * the process, the server reads the sockets before the timer runs, and counts
 * the time of a new item from before the stop: the item may be gone at once.
 *
 * At the moment when the count advances, it is right to a second; from then on
 * it is late by the time passed.  So a count is trusted for a while after the
 * moment.  The client does not see the moment, and takes the latest request
 * before: a request with a smaller count in the answer.  A clock without other
 * evidence is taken to run, unless the connection or the first answer took
 * long: the server may have been stopped, for any time, when the connection was
 * begun.  Of a later run the run before is evidence, by the times at which both
 * began.
 *
 * The server may never catch up: the machine slept, or the server's clock is
 * slower than ours.  Two requests show that, too, if the count advances between
 * them.
 *
 * The same answers tell from which run of the server they come.
 */
#include "backends/memcached/protocol/age.h"

#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/run.h"

#define OLDEST_S UINT32_MAX
#define SECOND (INT64_C(1000) * DLK_MS)

/* Most first answers of a server that runs take less. */
#define PROMPT (250 * DLK_MS)

/* Round trips of a connection before the first answer, at most. */
#define WAYS 8

#define LONG_AGO (-(INT64_C(1) << 60))

#define LONGEST_S (INT64_C(1) << 32) /* between two runs */

/* Less than MEMC_MORE_S, by the second to which a count is right. */
#define TRUST ((MEMC_MORE_S - 1) * SECOND)

/* Return when a run began to count, by the run before: too early, if the host's
 * clock was set back in between.  DLK_FOREVER: there was no run. */
static dlk_time begun(const struct memc_age *before, uint64_t born_s)
{
	int64_t later_s = (int64_t)(born_s - before->born_s);
	dlk_time at = LONG_AGO;

	if (before->born_s == 0)
		return DLK_FOREVER;
	if (later_s > -LONGEST_S && later_s < LONGEST_S)
		at = before->from + later_s * SECOND;
	return at > LONG_AGO ? at : LONG_AGO;
}

/* Did the first answer take long, or the connection before it?  The server
 * takes part in the handshake of TLS; the handshake, the connect() before it
 * and a login behind it are a few round trips, and the answer is another. */
static int is_slow(dlk_time began, dlk_time asked, dlk_time now)
{
	dlk_time way = now - asked;

	return way > PROMPT || asked - began > PROMPT + WAYS * way;
}

dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_stats *st,
			     dlk_time began, dlk_time asked, dlk_time now)
{
	int64_t count = (int64_t)st->uptime_s * SECOND;
	uint64_t born_s = st->time_s - st->uptime_s;

	if (age->born_s != born_s) {
		age->from = begun(age, born_s);
		if (age->from > asked - count - SECOND)
			age->from = asked - count - SECOND;
		if (is_slow(began, asked, now))
			age->from = LONG_AGO;
		age->born_s = born_s;
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

/* ---- The answer to `stats` ---------------------------------------------- */

static void parse_version(const char *text, struct memc_stats *st)
{
	char *end;

	st->major = strtol(text, &end, 10);
	if (*end == '.')
		st->minor = strtol(end + 1, &end, 10);
	if (*end == '.')
		st->patch = strtol(end + 1, &end, 10);
}

int dlki_memc_stats_line(struct memc_stats *st, const char *line)
{
	if (strncmp(line, "STAT ", 5) != 0)
		return 0;
	line += 5;
	if (strncmp(line, "time ", 5) == 0)
		st->time_s = strtoull(line + 5, NULL, 10);
	else if (strncmp(line, "pid ", 4) == 0)
		st->pid = strtoull(line + 4, NULL, 10);
	else if (strncmp(line, "uptime ", 7) == 0)
		st->uptime_s = strtoull(line + 7, NULL, 10);
	else if (strncmp(line, "version ", 8) == 0)
		parse_version(line + 8, st);
	return 1;
}

int dlki_memc_stats_are_whole(const struct memc_stats *st)
{
	return st->time_s > st->uptime_s && st->uptime_s <= OLDEST_S &&
	       st->major != 0;
}

int dlki_memc_stats_have_meta(const struct memc_stats *st)
{
	if (st->major != 1 || st->minor != 6)
		return st->major > 1 || (st->major == 1 && st->minor > 6);
	return st->patch >= 13;
}
