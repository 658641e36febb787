/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that know a pool differently find out before two hold a lock. */
#include <stdio.h>

#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "memcached/fleet/three.h"

TestSuite(memcached_known, .timeout = 240);

static struct fleet f;

static void cannot_open_as(const char *prefix, const char *uri, const char *why)
{
	dlock_client *c;
	char cure[80];

	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), why);
	snprintf(cure, sizeof(cure), "delete '%s.p' on each server", prefix);
	CHECK_TEXT(dlock_errmsg(), cure);
}

static void cannot_open(const char *uri, const char *why)
{
	cannot_open_as("dlock", uri, why);
}

/* The servers with these numbers. */
static const char *uri_of(const struct fleet *f, const char *numbers,
			  const char *query)
{
	static char uri[300];
	int n = snprintf(uri, sizeof(uri), "memcached://");

	for (const char *s = numbers; *s; s++)
		n += snprintf(uri + n, sizeof(uri) - (size_t)n,
			      "%s127.0.0.1:%d", s == numbers ? "" : ",",
			      f->servers[*s - '1']->port);
	snprintf(uri + n, sizeof(uri) - (size_t)n, "/?%s", query);
	return uri;
}

static int digest_size(struct lab_server *s)
{
	char reply[400] = "";
	int size = 0;

	CHECK_INT(lab_memcached_do(s, reply, sizeof(reply), "get dlock.p"), ==,
		  0);
	CHECK_INT(sscanf(reply, "VALUE %*s 0 %d", &size), ==, 1);
	return size;
}

/* Store items of this size, until the server refuses them. */
static void fill(struct lab_server *s, int size)
{
	static int n;
	char line[400], reply[400] = "";
	int rc;

	do {
		snprintf(line, sizeof(line), "set f%06d 0 0 %d\r\n%*s", n++,
			 size, size, "");
		rc = lab_memcached_do(s, reply, sizeof(reply), line);
	} while (rc == 0);
	CHECK_TEXT(lab_errmsg(), "SERVER_ERROR out of memory");
}

/* The server has memory for the lock's items, which are of another size. */
CASE(memcached_known, a_server_without_memory_for_the_digest)
{
	const struct lab_memcached_options full = { .memory_mb = 2,
						    .no_evict = true };
	char reply[400];
	dlock_lock *l;
	int size;

	fleet_begin(&f, &full);
	l = mutex(client(&f, "label=x"), name_on(&f, 0));
	give(take(l));
	size = digest_size(f.servers[0]);
	fill(f.servers[0], size);
	give(take(l));
	cannot_open(uri_of(&f, "12", "ttl=9s"), "3 servers there, 2 here");
	CHECK_INT(lab_memcached_do(f.servers[0], reply, sizeof(reply),
				   "delete dlock.p"),
		  ==, 0);
	fill(f.servers[0], size);
	give(take(l));
}

CASE(memcached_known, another_pool_does_not_open)
{
	dlock_client *c;

	fleet_begin(&f, NULL);
	give(take(mutex(client(&f, ""), "x")));
	cannot_open(uri_of(&f, "213", "ttl=9s"), "server 1 is 127.0.0.1");
	cannot_open(uri_of(&f, "12", "ttl=9s"), "3 servers there, 2 here");
	cannot_open(uri_of(&f, "123", "hash=md5"),
		    "hash 'default' there, 'md5' here");
	cannot_open(uri_of(&f, "123", "distribution=ketama"),
		    "distribution 'modula' there, 'ketama' here");
	/* The same pool, and a pool under another prefix. */
	give(take(mutex(client(&f, "ttl=9s"), "x")));
	CHECK_OK(dlock_open(&c, uri_of(&f, "321", "prefix=new"), NULL));
	dlock_close(c);
}

/* A client of a single server looks for every name there. */
CASE(memcached_known, a_single_server_is_another_pool)
{
	dlock_client *c;

	fleet_begin(&f, NULL);
	give(take(mutex(client(&f, ""), "x")));
	cannot_open(uri_of(&f, "1", "ask=500ms"), "3 servers there, 1 here");
	CHECK_OK(dlock_open(&c, uri_of(&f, "2", "prefix=one"), NULL));
	cannot_open_as("one", uri_of(&f, "123", "prefix=one"),
		       "1 server there, 3 here");
	dlock_close(c);
}

/* A server under two names. */
CASE(memcached_known, one_server_twice)
{
	char uri[200];

	fleet_begin(&f, NULL);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d,localhost:%d",
		 f.servers[0]->port, f.servers[0]->port);
	cannot_open(uri, "of the pool are one: name it once");
}

/* After a deletion, and after a restart. */
CASE(memcached_known, the_digest_is_written_again)
{
	dlock_client *c;
	dlock_lock *l;

	fleet_begin(&f, NULL);
	c = client(&f, "");
	l = mutex(c, name_on(&f, 1));
	give(take(l));
	CHECK_INT(lab_memcached_do(f.servers[1], NULL, 0, "delete dlock.p"), ==,
		  0);
	give(take(l));
	CHECK(has_item(f.servers[1], "dlock.p"));
	CHECK_INT(lab_server_restart(f.servers[1], false), ==, 0);
	EVENTUALLY(has_item(f.servers[1], "dlock.p"));
	cannot_open(uri_of(&f, "213", "ttl=9s"), "server 1 is 127.0.0.1");
}

/* ---- Other servers ------------------------------------------------------- */

CASE(memcached_known, a_member_that_is_redis)
{
	struct lab_server *redis = lab_redis_start(NULL);
	dlock_client *c;
	char uri[200];

	fleet_begin(&f, NULL);
	CHECK(redis);
	snprintf(uri, sizeof(uri), "memcached://127.0.0.1:%d,127.0.0.1:%d",
		 f.servers[0]->port, redis->port);
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EINVAL);
	CHECK_TEXT(dlock_errmsg(), "answers as Redis does");
	lab_server_free(redis);
}
