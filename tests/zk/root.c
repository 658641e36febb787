/* SPDX-License-Identifier: Apache-2.0 */
/* The root: the URI's path. */
#include "backends/zk/root.h"
#include "backends/zk/session.h"
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_root, .timeout = 120);

static int is_there(const char *path)
{
	return zoo_exists(bare(), path, 0, NULL) == ZOK;
}

SHARED(zk_root, is_where_locks_are)
{
	dlock_client *c;
	dlock_hold *h;

	refused(s->port, "app//locks", DLOCK_EINVAL, "empty part");
	refused(s->port, "app/../locks", DLOCK_EINVAL, "..");
	CHECK(!is_there("/app"));
	make("/app");
	make("/app/locks");
	c = client(s->port, "app/locks?prefix=here");
	h = take(mutex(c, "lock"), FOREVER);
	CHECK_INT(children("/app/locks/here/lnlock", NULL), ==, 1);
	CHECK_INT(children("/dlock", NULL), ==, 0);
	CHECK_OK(dlock_release(h));
}

/* The root's nodes are persistent. */
SHARED(zk_root, of_several_levels_is_made)
{
	dlock_client *c;
	struct Stat stat;

	make("/app");
	c = client(s->port, "app/locks/of/us");
	CHECK_OK(dlock_release(take(mutex(c, "lock"), FOREVER)));
	CHECK_INT(children("/app/locks/of/us/dlock", NULL), >, 0);
	CHECK_INT(zoo_exists(bare(), "/app/locks/of/us", 0, &stat), ==, ZOK);
	CHECK_INT(stat.ephemeralOwner, ==, 0);
	taken(mutex(client(s->port, ""), "lock"));
	/* Made again for an open client. */
	c = client(s->port, "other/locks?ask=5s");
	CHECK_INT(zoo_delete(bare(), "/other/locks", -1), ==, ZOK);
	CHECK_INT(zoo_delete(bare(), "/other", -1), ==, ZOK);
	taken(mutex(c, "lock"));
	CHECK(is_there("/other/locks"));
}

/* A server that answers that there is no node "/" is not ZooKeeper. */
Test(zk_root, of_the_server_is_not_made)
{
	struct zk_session *s = dlki_zk_session_new(NULL);
	struct dlk_error err = { 0 };

	s->config.create = 1;
	s->hosts.shown = strdup("h:2181");
	pthread_mutex_lock(&s->mu);
	cr_assert_eq(dlki_zk_root_make(s, dlk_now() + DLK_MS, &err),
		     DLOCK_EPROTO, "%s", err.text);
	cr_assert_not_null(strstr(err.text, "h:2181"));
	pthread_mutex_unlock(&s->mu);
	dlki_zk_session_free(s);
}

#define CLIENTS 8
#define ROUNDS 10

struct opener {
	pthread_t thread;
	pthread_barrier_t *all;
	char uri[128];
	dlock_client *client;
	int rc;
};

static void *open_at_once(void *arg)
{
	struct opener *o = arg;

	pthread_barrier_wait(o->all);
	o->rc = dlock_open(&o->client, o->uri, NULL);
	return NULL;
}

OWN(zk_root, is_made_by_several_at_once)
{
	struct opener o[CLIENTS] = { 0 };
	pthread_barrier_t all;
	char path[64];

	pthread_barrier_init(&all, NULL, CLIENTS);
	for (int round = 0; round < ROUNDS; round++) {
		snprintf(path, sizeof(path), "/a%d/b/c", round);
		for (int i = 0; i < CLIENTS; i++) {
			o[i].all = &all;
			snprintf(o[i].uri, sizeof(o[i].uri),
				 "zk://127.0.0.1:%d%s", s->port, path);
			pthread_create(&o[i].thread, NULL, open_at_once, &o[i]);
		}
		for (int i = 0; i < CLIENTS; i++) {
			pthread_join(o[i].thread, NULL);
			CHECK_OK(o[i].rc);
			dlock_close(o[i].client);
		}
		CHECK(is_there(path));
	}
	pthread_barrier_destroy(&all);
}

OWN(zk_root, is_not_made_with_create_off)
{
	refused(s->port, "app/locks?create=off", DLOCK_EINVAL,
		"the path /app/locks does not exist in ZooKeeper; create it, "
		"or leave create=off out of the URI");
	CHECK(!is_there("/app"));
	make("/app");
	make("/app/locks");
	CHECK_OK(dlock_release(
		take(mutex(client(s->port, "app/locks?create=off"), "lock"),
		     FOREVER)));
}

/* The message names the node with the access list in the way. */
OWN(zk_root, that_may_not_be_made_is_denied)
{
	struct ACL look = { ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector only_look = { 1, &look };

	make("/app");
	CHECK_INT(zoo_create(bare(), "/app/closed", "", 0, &only_look, 0, NULL,
			     0),
		  ==, ZOK);
	refused(s->port, "app/closed/a/b", DLOCK_EDENIED,
		"the path /app/closed/a/b does not exist in ZooKeeper, and the "
		"access list of /app/closed does not let us make it");
	refused(s->port, "app/closed/a", DLOCK_EDENIED,
		"access list of /app/closed does not let us");
	CHECK_INT(zoo_set_acl(bare(), "/", -1, &only_look), ==, ZOK);
	refused(s->port, "new", DLOCK_EDENIED,
		"access list of / does not let us");
	CHECK_OK(dlock_release(
		take(mutex(client(s->port, "app"), "lock"), FOREVER)));
}

/* Other users may read the root, and may not write. */
SHARED(zk_root, belongs_to_the_user_who_made_it)
{
	dlock_client *c = NULL;
	char uri[512], data[8];
	int len = sizeof(data);

	uri_as(uri, "app:sesame@", s->port, "of/app");
	CHECK_OK(dlock_open(&c, uri, NULL));
	CHECK_OK(dlock_release(take(mutex(c, "lock"), FOREVER)));
	dlock_close(c);
	CHECK_INT(zoo_get(bare(), "/of/app", 0, data, &len, NULL), ==, ZOK);
	CHECK_INT(zoo_set(bare(), "/of/app", "", 0, -1), ==, ZNOAUTH);
}
