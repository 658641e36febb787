/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behind a proxy that keeps its clients' connections, the server is restarted
 * without a word to the client.  It counts its items' numbers anew, so that
 * another's item has the number that our own had.
 */
#include "support.h"

#include <string.h>

#include "keeping.h"

struct proxied {
	struct scene scene;
	struct keeping *keeping;
	struct lab_proxy *late; /* before the other one */
};

static struct proxied begin(const char *protocol)
{
	struct proxied p = { .scene = scene_new(protocol, NULL) };
	struct lab_proxy_options to = { 0 };

	p.keeping = keeping_start(p.scene.server);
	to.to = keeping_address(p.keeping);
	p.late = lab_proxy_new(&to);
	CHECK(p.late);
	return p;
}

static dlock_client *proxied(const struct proxied *p, const char *query)
{
	return by_port(&p->scene, lab_proxy_port(p->late), query);
}

static void end(struct proxied *p)
{
	struct lab_proxy *late = p->late;

	lab_proxy_heal(late);
	scene_end(&p->scene);
	lab_proxy_free(late);
	keeping_free(p->keeping);
}

static void restart(const struct proxied *p)
{
	CHECK_INT(lab_server_kill(p->scene.server), ==, 0);
	CHECK_INT(lab_server_restart(p->scene.server, false), ==, 0);
	grown_up(&p->scene);
}

/* The server was restarted under this client's connection, and another client
 * has the lock. */
static dlock_hold *taken_anew(const struct proxied *p, dlock_client *c)
{
	give(take(mutex(c, "y")));
	restart(p);
	return take(mutex(direct(&p->scene, "ttl=3s"), "x"));
}

/* The item is there, and will be for as long as its owner has renewed it. */
static void stands(struct proxied *p, dlock_hold *h, int64_t ms)
{
	ALL_ALONG(ms, dlock_check(h) == DLOCK_OK);
	ask(mutex(direct(&p->scene, ""), "x"), 0, DLOCK_EBUSY);
	give(h);
}

EITHER_WAY(memcached_proxied, release_frees_nobody_elses)
{
	struct proxied p = begin(protocol);
	dlock_hold *h = take(mutex(proxied(&p, ""), "x")), *next;

	restart(&p);
	next = take(mutex(direct(&p.scene, "ttl=3s"), "x"));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	CHECK_INT(keeping_changed(p.keeping), >, 0);
	stands(&p, next, 1200);
	end(&p);
}

/* It was sent before the restart and arrives when another has the lock. */
EITHER_WAY(memcached_proxied, late_release_frees_nobody_elses)
{
	struct proxied p = begin(protocol);
	dlock_client *c = proxied(&p, "close=300ms");
	dlock_hold *h = take(mutex(c, "x")), *next;

	lab_proxy_hold(p.late, strcmp(protocol, "meta") == 0 ? "md " : "cas ");
	CHECK_RC(dlock_release(h), DLOCK_EUNREACHABLE);
	CHECK_INT(lab_proxy_stat(p.late, LAB_HELD), ==, 1);
	restart(&p);
	next = take(mutex(direct(&p.scene, "ttl=3s"), "x"));
	CHECK_INT(lab_proxy_deliver(p.late), >=, 1);
	stands(&p, next, 1200);
	end(&p);
}

EITHER_WAY(memcached_proxied, renewal_takes_nobody_elses)
{
	struct proxied p = begin(protocol);
	dlock_client *c = proxied(&p, "ttl=15s");
	dlock_hold *h = take(mutex(c, "x")), *next;

	restart(&p);
	next = take(mutex(direct(&p.scene, ""), "x"));
	CHECK_OK(dlock_check(h));
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(keeping_changed(p.keeping), >, 0);
	stands(&p, next, 0);
	dlock_release(h);
	end(&p);
}

/* A client that had a connection before asks the server that is there now. */
EITHER_WAY(memcached_proxied, acquire_finds_the_others)
{
	struct proxied p = begin(protocol);
	dlock_client *c = proxied(&p, "");
	dlock_hold *next = taken_anew(&p, c);

	ask(mutex(c, "x"), 0, DLOCK_EBUSY);
	stands(&p, next, 0);
	next = take(mutex(c, "x"));
	ask(mutex(direct(&p.scene, ""), "x"), 0, DLOCK_EBUSY);
	give(next);
	end(&p);
}

EITHER_WAY(memcached_proxied, break_finds_the_holder)
{
	struct proxied p = begin(protocol);
	dlock_client *c = proxied(&p, "");
	dlock_hold *next = taken_anew(&p, c);

	CHECK_OK(dlock_break(mutex(c, "x"), patience_ms()));
	EVENTUALLY(dlock_check(next) == DLOCK_ELOST);
	dlock_release(next);
	end(&p);
}
