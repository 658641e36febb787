/* SPDX-License-Identifier: Apache-2.0 */
/* What people are shown where a key is not dlock's. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(redis_inspect, .timeout = 120);

static struct lab_server *server;
static dlock_lock *l;

struct shown {
	int n;
	char label[128];
	int64_t remaining_ms;
};

static void show(const struct dlock_participant *p, void *arg)
{
	struct shown *s = arg;

	s->n++;
	snprintf(s->label, sizeof(s->label), "%s", p->label);
	s->remaining_ms = p->remaining_ms;
}

static struct shown look(void)
{
	struct shown s = { 0 };

	CHECK_OK(dlock_inspect(l, show, &s, patience_ms()));
	CHECK_INT(s.n, ==, 1);
	return s;
}

CASE(redis_inspect, says_what_is_not_ours)
{
	char key[256];
	struct shown s;
	dlock_hold *h;

	server = server_start(NULL);
	l = mutex(client_of(server->port, "ttl=30s", NULL), "x");
	h = take(l, 0);
	snprintf(key, sizeof(key), "%s", only_key(server));
	give(h);
	server_do(server, "SET %s junk PX 60000", key);
	s = look();
	CHECK_TEXT(s.label, "not dlock's");
	CHECK_INT(s.remaining_ms, >, 30000);
	server_do(server, "SET %s junk", key);
	s = look();
	CHECK_INT(s.remaining_ms, ==, -1);
	server_do(server, "DEL %s", key);
	server_do(server, "RPUSH %s junk", key);
	CHECK_RC(dlock_inspect(l, show, &s, patience_ms()), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), "another type");
	server_do(server, "DEL %s", key);
}
