/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is away takes away the names kept there, and no other names. */
#include <stdio.h>
#include <string.h>

#include "memcached/fleet/three.h"

TestSuite(memcached_fleet, .timeout = 240);
TestSuite(memcached_apart, .timeout = 240);

static struct fleet f;

/* ---- Opening ------------------------------------------------------------- */

struct told {
	char text[512];
	int lines;
};

static void note(const struct dlock_log_line *line, void *arg)
{
	struct told *told = arg;

	if (!strstr(line->text, "is away"))
		return;
	told->lines++;
	snprintf(told->text, sizeof(told->text), "%s", line->text);
}

CASE(memcached_fleet, opens_while_one_answers)
{
	struct told told = { "", 0 };
	struct dlock_options options = { .size = sizeof(options),
					 .on_log = note,
					 .arg = &told };
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	fleet_begin(&f, NULL);
	CHECK_INT(lab_server_kill(f.servers[0]), ==, 0);
	CHECK_INT(lab_server_kill(f.servers[2]), ==, 0);
	c = client_of_case(f.uri, &options);
	CHECK_INT(told.lines, ==, 2);
	CHECK_TEXT(told.text, "server 3 of 3 is away");
	give(take(mutex(c, name_on(&f, 1))));
	l = mutex(c, name_on(&f, 0));
	CHECK_RC(dlock_acquire(l, 100, &h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_restart(f.servers[0], false), ==, 0);
	give(take(l));
}

/* The open asks again and again, and the message tells why. */
CASE(memcached_fleet, does_not_open_while_none_answers)
{
	struct told told = { "", 0 };
	struct dlock_options options = { .size = sizeof(options),
					 .on_log = note,
					 .arg = &told };
	dlock_client *c;
	char uri[300];

	fleet_begin(&f, NULL);
	for (size_t i = 0; i < FLEET; i++)
		CHECK_INT(lab_server_kill(f.servers[i]), ==, 0);
	snprintf(uri, sizeof(uri), "%s&connect=300ms", f.uri);
	CHECK_RC(dlock_open(&c, uri, &options), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "127.0.0.1");
	CHECK_INT(told.lines, ==, 0);
}

/* ---- Renewals ------------------------------------------------------------ */

/* The renewal at the silent server takes longer than the other lease. */
CASE(memcached_apart, a_short_lease_outlasts_a_renewal_at_a_silent_server)
{
	dlock_acquire_options brief = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *silent, *h;
	dlock_client *c;

	fleet_begin(&f, NULL);
	c = client(&f, "ttl=3s");
	brief.lease_ms = 600;
	silent = take(mutex(c, name_on(&f, 0)));
	CHECK_OK(dlock_acquire_opts(mutex(c, name_on(&f, 1)), &brief, &h));
	CHECK_INT(lab_server_pause(f.servers[0]), ==, 0);
	EVENTUALLY(dlock_check(silent) == DLOCK_ELOST);
	CHECK_OK(dlock_check(h));
	CHECK_INT(lab_server_resume(f.servers[0]), ==, 0);
	give(h);
	CHECK_RC(dlock_release(silent), DLOCK_ELOST);
}
