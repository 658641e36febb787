/* SPDX-License-Identifier: Apache-2.0 */
/* What `stats` tells: how old the server is, and of which version. */
#include "memcached.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define OLDEST_S UINT32_MAX

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

int dlki_memc_about(struct memc_conn *c, struct memc_about *a, dlk_time asked,
		    dlk_time deadline, struct dlk_error *err)
{
	struct memc_clock *clock = c->session->clock;
	int rc = read_all(c, a, deadline, err);

	if (rc != 0)
		return rc;
	if (a->time_s <= a->uptime_s || a->uptime_s > OLDEST_S || a->major == 0)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server does not tell its time, uptime "
				"and version",
				c->net.who);
	pthread_mutex_lock(&clock->mu);
	c->trusted = dlki_memc_age_learn(&clock->age, a, asked, dlk_now());
	pthread_mutex_unlock(&clock->mu);
	return 0;
}
