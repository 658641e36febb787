/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is away takes away the names kept there, and no other names. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "memcached/fleet/three.h"

TestSuite(memcached_fleet, .timeout = 240);

static struct fleet f;

enum { RELEASES = 20 };

/* A hold of a name on each server. */
struct held {
	dlock_lock *locks[FLEET];
	dlock_hold *holds[FLEET];
};

static struct held hold_each(const struct fleet *f, dlock_client *c)
{
	struct held h;

	for (size_t i = 0; i < FLEET; i++) {
		h.locks[i] = mutex(c, name_on(f, i, 0));
		h.holds[i] = take(h.locks[i]);
		CHECK(has_lock(f->servers[i], name_on(f, i, 0)));
		CHECK(!has_lock(f->servers[(i + 1) % FLEET], name_on(f, i, 0)));
	}
	return h;
}

/* Two leases long. */
static void outlive(dlock_client *c, const dlock_hold *one,
		    const dlock_hold *other)
{
	int64_t until = now_ms() + 2 * dlock_ttl_ms(c);

	do {
		CHECK_OK(dlock_check(one));
		CHECK_OK(dlock_check(other));
		nap_ms(20);
	} while (now_ms() < until);
}

CASE(memcached_fleet, one_killed_and_restarted)
{
	dlock_client *c, *other;
	dlock_lock *l;
	struct held h;
	uint64_t token;

	fleet_begin(&f);
	c = client(&f, "ttl=3s");
	other = client(&f, "ttl=3s");
	h = hold_each(&f, c);
	token = dlock_token(h.holds[1]);
	CHECK_INT(lab_server_kill(f.servers[1]), ==, 0);
	outlive(c, h.holds[0], h.holds[2]);
	CHECK_RC(dlock_check(h.holds[1]), DLOCK_ELOST);
	CHECK_RC(dlock_release(h.holds[1]), DLOCK_ELOST);
	/* The name moves nowhere, and others are taken as before. */
	l = mutex(other, name_on(&f, 1, 0));
	CHECK_RC(dlock_acquire(l, 300, &h.holds[1]), DLOCK_EUNREACHABLE);
	for (size_t i = 0; i < FLEET; i += 2) {
		CHECK(!has_lock(f.servers[i], name_on(&f, 1, 0)));
		CHECK_RC(dlock_acquire(mutex(other, name_on(&f, i, 0)), 0,
				       &h.holds[1]),
			 DLOCK_EBUSY);
		give(take(mutex(other, name_on(&f, i, 1))));
	}
	CHECK_INT(lab_server_restart(f.servers[1], false), ==, 0);
	h.holds[1] = take(l);
	CHECK(dlock_token(h.holds[1]) > token);
	for (size_t i = 0; i < FLEET; i++)
		give(h.holds[i]);
}

/* A silent server delays no releases at other servers, while the client waits
 * for the silent server's answer to the renewals. */
CASE(memcached_fleet, releases_while_one_is_stopped)
{
	dlock_hold *first, *holds[RELEASES];
	dlock_client *c;

	fleet_begin(&f);
	snprintf(strchr(f.uri, '?'), sizeof("?ask=3s"), "?ask=3s");
	c = client(&f, "ttl=9s&close=1s");
	first = take(mutex(c, name_on(&f, 0, 0)));
	for (int i = 0; i < RELEASES; i++)
		holds[i] = take(mutex(c, name_on(&f, 1, i)));
	CHECK_INT(lab_server_pause(f.servers[0]), ==, 0);
	/* The renewals begin after a third of the lease, and wait for 3 s. */
	for (int i = 0; i < RELEASES; i++) {
		nap_ms(200);
		give(holds[i]);
	}
	CHECK_INT(lab_server_resume(f.servers[0]), ==, 0);
	(void)dlock_release(first);
}

/* ... nor from the releases of a client that is closed. */
CASE(memcached_fleet, closing_while_one_is_stopped)
{
	dlock_client *c, *other;
	struct held h;

	fleet_begin(&f);
	other = client(&f, "");
	CHECK_OK(dlock_open(&c, f.uri, NULL));
	h = hold_each(&f, c);
	CHECK_INT(lab_server_pause(f.servers[0]), ==, 0);
	dlock_close(c);
	for (size_t i = 0; i < FLEET; i++)
		(void)dlock_release(h.holds[i]);
	for (size_t i = 1; i < FLEET; i++)
		give(take_within(mutex(other, name_on(&f, i, 0)), 0));
	CHECK_INT(lab_server_resume(f.servers[0]), ==, 0);
}

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

	fleet_begin(&f);
	CHECK_INT(lab_server_kill(f.servers[0]), ==, 0);
	CHECK_INT(lab_server_kill(f.servers[2]), ==, 0);
	c = client_of_case(f.uri, &options);
	CHECK_INT(told.lines, ==, 2);
	CHECK_TEXT(told.text, "server 3 of 3 is away");
	give(take(mutex(c, name_on(&f, 1, 0))));
	l = mutex(c, name_on(&f, 0, 0));
	CHECK_RC(dlock_acquire(l, 100, &h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_server_restart(f.servers[0], false), ==, 0);
	give(take(l));
}

CASE(memcached_fleet, opens_while_one_is_silent)
{
	fleet_begin(&f);
	CHECK_INT(lab_server_pause(f.servers[0]), ==, 0);
	give(take(mutex(client(&f, "connect=2s"), name_on(&f, 2, 0))));
	CHECK_INT(lab_server_resume(f.servers[0]), ==, 0);
}

CASE(memcached_fleet, does_not_open_while_none_answers)
{
	dlock_client *c;
	char uri[300];

	fleet_begin(&f);
	for (size_t i = 0; i < FLEET; i++)
		CHECK_INT(lab_server_kill(f.servers[i]), ==, 0);
	snprintf(uri, sizeof(uri), "%s&connect=300ms", f.uri);
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "127.0.0.1");
}
