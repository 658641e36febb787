/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "uri.h"
#include "wire.h"

#define NAP (20 * DLK_MS)

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

static int read_stats_lines(struct memc_conn *c, struct memc_stats *st,
			    dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc;

	while ((rc = dlki_memc_line(c, &line, deadline, err)) == 0 &&
	       strcmp(line, "END") != 0) {
		if (!dlki_memc_stats_line(st, line))
			return dlki_memc_unexpected_from(c, line, err);
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
	if (!dlki_memc_stats_are_whole(st))
		return dlk_fail(err, DLOCK_EPROTO, MEMC_STATS_ARE_SHORT,
				c->net.peer);
	pthread_mutex_lock(&clock->mu);
	rc = dlki_memc_run_told(&c->run, &clock->age, st, asked, dlk_now());
	pthread_mutex_unlock(&clock->mu);
	if (rc == 0)
		return 0;
	c->changed = 1;
	return dlk_fail(err, rc, MEMC_RUN_IS_OVER, c->net.peer);
}

/* ---- Asking for it ------------------------------------------------------- */

static int ask_for_stats(struct memc_conn *c, dlk_time deadline,
			 struct dlk_error *err)
{
	struct memc_stats st = { 0 };
	dlk_time asked = dlk_now();
	int rc;

	dlki_memc_put(&c->out, "stats\r\n");
	rc = dlki_memc_send(c, deadline, err);
	return rc != 0 ? rc :
			 dlki_memc_stats_read(c, &st, asked, deadline, err);
}

int dlki_memc_confirm(struct memc_conn *c, dlk_time deadline,
		      struct dlk_error *err)
{
	if (dlki_memc_run_is_seen(&c->run, dlk_now()))
		return 0;
	return ask_for_stats(c, deadline, err);
}

int dlki_memc_clock_await(struct memc_conn *c, dlk_time deadline,
			  struct dlk_error *err)
{
	for (;;) {
		int rc = ask_for_stats(c, deadline, err);

		if (rc != 0 || dlk_now() <= c->run.trusted)
			return rc;
		if (dlk_now() + NAP > dlk_deadline(deadline))
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					MEMC_WAS_STOPPED, c->net.peer);
		dlki_memc_sleep_until(dlk_now() + NAP);
	}
}

void dlki_memc_sleep_until(dlk_time until)
{
	struct timespec ts = { until / 1000000000, until % 1000000000 };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		continue;
}
