/* SPDX-License-Identifier: Apache-2.0 */
/* A name moves from store to store, and a resource with tokens goes on
 * accepting the holders. Every store was in use before. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <limits.h>
#include <stdio.h>

#include "lab/base/fail.h"
#include "lab/history/resource.h"
#include "lab/servers/memcached.h"
#include "lab/servers/redis.h"
#include "lab/servers/zookeeper.h"
#include "support/hold.h"
#include "support/temp.h"

TestSuite(moving, .timeout = 400);

#define NAME "billing/nightly"
#define USES_BEFORE 300

static struct lab_server *redis_server(void)
{
	return lab_redis_start(NULL);
}

static struct lab_server *zk_server(void)
{
	return lab_zk_start(NULL);
}

static struct lab_server *memcached_server(void)
{
	return lab_memcached_start(NULL);
}

/* How far a store's clock may be behind (docs/moving.md): for a client opened
 * after the last grant elsewhere, and for a client open before. The URI tells
 * memcached of the move. */
static const struct {
	const char *uri;
	struct lab_server *(*start)(void);
	uint64_t opened_ms, open_ms;
	int says_when;
} stores[] = {
	{ "mem:", NULL, 0, 0, 0 },
	{ "file://%s", NULL, 0, 0, 0 },
	{ "redis://127.0.0.1:%d/0?ask=5s", redis_server, 0, 0, 0 },
	{ "memcached://127.0.0.1:%d/?ask=5s", memcached_server, 0, 0, 1 },
	{ "zk://127.0.0.1:%d/?ask=5s", zk_server, 2, 2000, 0 },
};

enum { STORES = sizeof(stores) / sizeof(stores[0]) };

struct place {
	struct lab_server *server;
	char uri[PATH_MAX + 16];
	dlock_client *client; /* NULL: opened for each use */
};

static struct place places[STORES];
static struct lab_resource *resource;
static uint64_t last;
static uint64_t last_us; /* the end of the last hold */

static dlock_client *open_client(int i)
{
	char uri[sizeof(places[i].uri) + 40];
	dlock_client *c = NULL;

	snprintf(uri, sizeof(uri), "%s", places[i].uri);
	if (stores[i].says_when)
		snprintf(uri, sizeof(uri), "%s&token_base=%lld", places[i].uri,
			 (long long)wall_us());
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

static uint64_t use(dlock_client *c, const char *name)
{
	dlock_lock *l = NULL;
	dlock_hold *h;
	uint64_t token;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	h = take(l, FOREVER);
	token = dlock_token(h);
	give(h);
	dlock_lock_free(l);
	return token;
}

static void use_before(int i)
{
	dlock_client *c = open_client(i);

	for (int k = 0; k < USES_BEFORE; k++)
		use(c, k % 2 ? NAME : "another");
	dlock_close(c);
}

static void prepare(const char *dir)
{
	for (int i = 0; i < STORES; i++) {
		struct place *p = &places[i];

		if (stores[i].start) {
			p->server = stores[i].start();
			if (!p->server)
				FAIL("%s", lab_errmsg());
			snprintf(p->uri, sizeof(p->uri), stores[i].uri,
				 p->server->port);
		} else {
			snprintf(p->uri, sizeof(p->uri), stores[i].uri, dir);
		}
		use_before(i);
	}
	resource = lab_resource_open(dir, "resource");
	CHECK(resource);
	last_us = wall_us();
}

static void hold_at(int i)
{
	uint64_t behind_us = 1000 * (places[i].client ? stores[i].open_ms :
							stores[i].opened_ms);
	dlock_client *c;

	EVENTUALLY(wall_us() > last_us + behind_us);
	c = places[i].client ? places[i].client : open_client(i);
	for (int k = 0; k < 3; k++) {
		uint64_t token = use(c, NAME);
		struct lab_written verdict;

		if (token <= last)
			FAIL("token %llu of %s after %llu",
			     (unsigned long long)token, places[i].uri,
			     (unsigned long long)last);
		last = token;
		CHECK_INT(lab_resource_write(resource, token, &verdict), ==, 0);
		CHECK(verdict.accepted);
	}
	if (!places[i].client)
		dlock_close(c);
	last_us = wall_us();
}

/* From each store to each other store: 0 1 0 2 1 2, round again. */
static void move_everywhere(int from, int step)
{
	for (int i = 0; i < STORES; i++) {
		for (int k = i + 1; k < STORES; k++) {
			hold_at(from + step * i);
			hold_at(from + step * k);
		}
	}
	hold_at(from);
}

static void move_and_back(int open)
{
	char dir[PATH_MAX];

	CHECK_INT(temp_make(dir), ==, 0);
	prepare(dir);
	for (int i = 0; i < STORES; i++) {
		if (open && !stores[i].says_when)
			places[i].client = open_client(i);
	}
	move_everywhere(0, 1);
	move_everywhere(STORES - 1, -1);
	CHECK_INT(lab_resource_refused(resource), ==, 0);
	lab_resource_close(resource);
	for (int i = 0; i < STORES; i++) {
		dlock_close(places[i].client);
		if (places[i].server)
			lab_server_free(places[i].server);
	}
	temp_remove(dir);
}

/* Each holder is another program, with the URI of a store. */
Test(moving, programs_that_are_started_again)
{
	move_and_back(0);
}

/* A program with clients of all stores. */
Test(moving, a_program_with_clients_of_all_stores)
{
	move_and_back(1);
}
