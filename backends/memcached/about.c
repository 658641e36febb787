/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `stats` tells: how old the server is, and whether its clock goes.
 *
 * A server that was stopped serves what it finds in its sockets while its timer
 * is still to run, and counts the time of an item from before it was stopped:
 * the item may be gone as soon as it was stored.  So its account of its age is
 * compared with the most that it said before, and with our clock since then.
 *
 * What it is behind by it may never make up for: its machine slept, or its
 * clock is slower than ours.  That it goes is proven by two looks between which
 * it went on: when the later was answered, it had been right since the earlier
 * was asked for.
 */
#include "memcached.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define SECOND (INT64_C(1000) * DLKI_MS)

/* Whole seconds are up to one late, and a busy server's a little more. */
#define MOST_LATE (3 * SECOND / 2)
#define OLDEST_S UINT32_MAX

struct memc_age {
	pthread_mutex_t mu; /* protects all; a leaf */
	uint64_t born_s;    /* which run of the server this is about */
	int64_t ahead;      /* of our clock: the most that its age was */
	uint64_t uptime_s;  /* the largest that was seen, and when we began the
			     * last request that was told it */
	dlk_time asked;
};

struct memc_age *dlki_memc_age_new(void)
{
	struct memc_age *age = calloc(1, sizeof(*age));

	if (age)
		pthread_mutex_init(&age->mu, NULL);
	return age;
}

void dlki_memc_age_free(struct memc_age *age)
{
	pthread_mutex_destroy(&age->mu);
	free(age);
}

static void read_version(const char *text, struct memc_about *a)
{
	char *end;

	a->major = strtol(text, &end, 10);
	if (*end == '.')
		a->minor = strtol(end + 1, &end, 10);
	if (*end == '.')
		a->patch = strtol(end + 1, &end, 10);
}

static int read_all(struct memc_conn *c, struct memc_about *a,
		    dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc;

	while ((rc = dlki_memc_line(c, &line, deadline, err)) == 0 &&
	       strcmp(line, "END") != 0) {
		if (strncmp(line, "STAT ", 5) != 0)
			return dlki_memc_odd(c, line, err);
		line += 5;
		if (strncmp(line, "time ", 5) == 0)
			a->time_s = strtoull(line + 5, NULL, 10);
		else if (strncmp(line, "uptime ", 7) == 0)
			a->uptime_s = strtoull(line + 7, NULL, 10);
		else if (strncmp(line, "version ", 8) == 0)
			read_version(line + 8, a);
	}
	return rc;
}

/* With mu held: has it gone on since a look that was not long ago?  The second
 * that it counted then began after that, so that its age was no more. */
static int goes(const struct memc_age *age, const struct memc_about *a,
		dlk_time now)
{
	return a->uptime_s > age->uptime_s && now - age->asked < MOST_LATE;
}

static int is_late(struct memc_age *age, const struct memc_about *a,
		   dlk_time asked)
{
	dlk_time now = dlk_now();
	int64_t ahead = (int64_t)a->uptime_s * SECOND - now;
	uint64_t born_s = a->time_s - a->uptime_s;
	int late;

	pthread_mutex_lock(&age->mu);
	if (age->born_s != born_s) {
		age->ahead = ahead;
		age->uptime_s = 0;
	} else if (age->ahead < ahead) {
		age->ahead = ahead;
	} else if (age->ahead - ahead > MOST_LATE && goes(age, a, now)) {
		age->ahead = (int64_t)a->uptime_s * SECOND - age->asked;
	}
	age->born_s = born_s;
	late = age->ahead - ahead > MOST_LATE;
	if (a->uptime_s > age->uptime_s ||
	    (a->uptime_s == age->uptime_s && asked > age->asked)) {
		age->uptime_s = a->uptime_s;
		age->asked = asked;
	}
	pthread_mutex_unlock(&age->mu);
	return late;
}

int dlki_memc_about(struct memc_conn *c, struct memc_about *a, dlk_time asked,
		    dlk_time deadline, struct dlk_error *err)
{
	int rc = read_all(c, a, deadline, err);

	if (rc != 0)
		return rc;
	if (a->time_s <= a->uptime_s || a->uptime_s > OLDEST_S || a->major == 0)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server does not tell its time, uptime "
				"and version",
				c->net.who);
	a->late = is_late(c->session->age, a, asked);
	return 0;
}
