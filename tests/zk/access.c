/* SPDX-License-Identifier: Apache-2.0 */
/* Access lists: a user's own nodes, and nodes closed to dlock. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "support/wait.h"

TestSuite(zk_access, .timeout = 120);

#define DIR "/dlock/lnlock"

/* Of the user `super` with the password `key`. */
#define SUPER                                                                  \
	"-Dzookeeper.DigestAuthenticationProvider.superDigest="                \
	"super:oedjda4QHwLdYxN/6d8QM2sN30k="

static dlock_client *as(int port, const char *user)
{
	dlock_client *c = NULL;
	char uri[512];

	uri_as(uri, user, port, "?ask=5s");
	CHECK_OK(dlock_open(&c, uri, NULL));
	return c;
}

SHARED(zk_access, what_a_user_makes_is_that_users)
{
	static const char *const others[] = { "", "app:wrong@",
					      "other:sesame@" };
	dlock_client *c = as(s->port, "app:sesame@");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h = take(l, FOREVER), *none = NULL;

	CHECK_INT(children("/", NULL), >, 0);
	CHECK_INT(zoo_delete(bare(), DIR, -1), ==, ZNOAUTH);
	for (int i = 0; i < 3; i++) {
		dlock_client *d = as(s->port, others[i]);
		dlock_lock *wanted = mutex(d, "lock");

		CHECK_RC(dlock_acquire(wanted, 500, &none), DLOCK_EDENIED);
		CHECK(!strstr(dlock_errmsg(), "sesame"));
		CHECK_TEXT(dlock_errmsg(), DIR);
		CHECK_TEXT(dlock_errmsg(), "setAcl ... cdrwa");
		CHECK(!strstr(dlock_uri(c), "sesame"));
		dlock_close(d);
	}
	CHECK_OK(dlock_release(h));
	dlock_close(c);
	c = as(s->port, "app:sesame@");
	CHECK_OK(dlock_release(take(mutex(c, "lock"), 0)));
	dlock_close(c);
}

SHARED(zk_access, a_path_that_is_closed_is_denied)
{
	struct ACL look = { ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector only_look = { 1, &look };
	dlock_client *c;
	dlock_hold *h = NULL;

	CHECK_INT(zoo_create(bare(), "/closed", "", 0, &only_look, 0, NULL, 0),
		  ==, ZOK);
	c = client(s->port, "closed?ask=5s");
	CHECK_RC(dlock_acquire(mutex(c, "lock"), 500, &h), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), "/closed/dlock: the node's access list does "
				   "not allow it: let the URI's user do all");
}

/* A waiter cannot watch a node ahead without the permission to read. */
SHARED(zk_access, a_node_in_the_way_that_is_hidden_is_denied)
{
	struct ACL none = { ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector closed = { 1, &none };
	dlock_client *c = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h = NULL;
	uint64_t before;

	CHECK_OK(dlock_release(take(l, FOREVER)));
	CHECK_INT(zoo_create(bare(), DIR "/0123456789abcdef0123456789abcdef-x-",
			     "", 0, &closed, ZOO_EPHEMERAL_SEQUENTIAL, NULL, 0),
		  ==, ZOK);
	before = stats(c).attempts;
	CHECK_RC(dlock_acquire(l, 3000, &h), DLOCK_EDENIED);
	CHECK_TEXT(dlock_errmsg(), DIR "/0123456789abcdef");
	CHECK_INT(stats(c).attempts - before, <=, 2);
	CHECK_INT(children(DIR, NULL), ==, 1);
}

/* Set `path` to the node of the last participant in the queue. */
static void last_node(char path[512])
{
	struct String_vector v = { 0 };
	const char *last = "", *number = "";

	CHECK_INT(zoo_get_children(bare(), DIR, 0, &v), ==, ZOK);
	for (int i = 0; i < v.count; i++) {
		const char *its = strrchr(v.data[i], '-');

		if (its && strcmp(its, number) > 0) {
			last = v.data[i];
			number = its;
		}
	}
	snprintf(path, 512, DIR "/%s", last);
	deallocate_String_vector(&v);
}

/* A server does not report the deletion of a closed node to the waiter. */
SHARED(zk_access, a_waiters_node_cannot_be_closed)
{
	static const char *const users[] = { "", "app:sesame@" };
	struct ACL none = { ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector closed = { 1, &none };
	char path[512];

	CHECK_INT(zoo_add_auth(bare(), "digest", "app:sesame", 10, NULL, NULL),
		  ==, ZOK);
	for (int i = 0; i < 2; i++) {
		dlock_client *a = as(s->port, users[i]);
		dlock_client *b = as(s->port, users[i]);
		struct taker w = { 0 };
		dlock_hold *h = take(mutex(a, "lock"), FOREVER);

		taker_queue(&w, b, mutex(b, "lock"), FOREVER);
		last_node(path);
		CHECK_INT(zoo_set_acl(bare(), path, -1, &closed), ==, ZNOAUTH);
		CHECK_INT(zoo_delete(bare(), path, -1), ==, ZOK);
		EVENTUALLY(children_are(DIR, 2));
		CHECK_OK(dlock_release(h));
		CHECK_OK(let_go(&w));
		dlock_close(a);
		dlock_close(b);
		CHECK_INT(zoo_delete(bare(), DIR, -1), ==, ZOK);
	}
}

/* The superuser closes the node, and the next connection needs the watch
 * anew. */
CASE(zk_access, a_holder_may_lose_the_right_to_read_its_own_node)
{
	struct ACL none = { ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE };
	struct ACL_vector closed = { 1, &none };
	struct lab_zk_options o = { .java = SUPER };
	struct lab_server *s = server(&o);
	struct lab_proxy *p = proxy(s);
	dlock_client *c = client(lab_proxy_port(p), "?ttl=6s&ask=5s");
	dlock_hold *h = take(mutex(c, "lock"), FOREVER);
	char path[512];
	uint64_t up;

	CHECK_INT(zoo_add_auth(bare(), "digest", "super:key", 9, NULL, NULL),
		  ==, ZOK);
	last_node(path);
	CHECK_INT(zoo_set_acl(bare(), path, -1, &closed), ==, ZOK);
	lab_proxy_reset(p);
	taken(mutex(c, "another"));
	up = lab_proxy_stat(p, LAB_UP_CHUNKS);
	ALL_ALONG(500, lab_proxy_stat(p, LAB_UP_CHUNKS) - up <= 8);
	CHECK_INT(zoo_delete(bare(), path, -1), ==, ZOK);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* Restart the server, which takes passwords or does not. */
static void restart_with_passwords(struct lab_server *s, int on)
{
	struct lab_zk_options *o = (void *)(uintptr_t)s->options;

	o->java = on ? NULL :
		       "-Dzookeeper.DigestAuthenticationProvider.enabled=false";
	if (lab_server_restart(s, true) < 0)
		FAIL("%s", lab_errmsg());
}

CASE(zk_access, a_client_that_was_refused_is_taken_later)
{
	struct lab_zk_options o = { 0 };
	struct lab_server *s = server(&o);
	dlock_client *c = as(s->port, "app:sesame@");
	dlock_lock *l = mutex(c, "lock");
	dlock_hold *h = NULL;

	CHECK_OK(dlock_release(take(l, FOREVER)));
	restart_with_passwords(s, 0);
	EVENTUALLY(dlock_acquire(l, 0, &h) == DLOCK_EDENIED);
	restart_with_passwords(s, 1);
	EVENTUALLY(dlock_acquire(l, 0, &h) == DLOCK_OK);
	CHECK_OK(dlock_release(h));
	dlock_close(c);
}
