/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the memcached store share: a private server, a proxy before
 * it, clients that go through either.  Checks are those of support/check.h.
 */
#ifndef DLOCK_TESTS_MEMCACHED_SUPPORT_H
#define DLOCK_TESTS_MEMCACHED_SUPPORT_H

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <pthread.h>

#include "lab/servers/memcached.h"
#include "lab/proxy/proxy.h"
#include "support/wait.h"
#include "support/hold.h"

/* A test in each of the two protocols: a body that is given its name. */
#define EITHER_WAY(suite, name)                                                \
	static void name(const char *protocol);                                \
	Test(suite, name##_meta)                                               \
	{                                                                      \
		name("meta");                                                  \
	}                                                                      \
	Test(suite, name##_text)                                               \
	{                                                                      \
		name("text");                                                  \
	}                                                                      \
	static void name(const char *protocol)

struct scene {
	struct lab_server *server;
	struct lab_proxy *proxy;
	const char *protocol;
};

/* Never returns without a server that is old enough to grant. */
struct scene scene_new(const char *protocol,
		       const struct lab_memcached_options *options);
/* Free what came from by_proxy(), direct() and mutex(), too. */
void scene_end(struct scene *s);

/* A client by way of the proxy, or not, or of something else; `query` may be
 * "". */
dlock_client *by_proxy(const struct scene *s, const char *query);
dlock_client *direct(const struct scene *s, const char *query);
dlock_client *by_port(const struct scene *s, int port, const char *query);

/* The server's count of its seconds, which stands still while it is stopped. */
uint64_t uptime_of(const struct scene *s);

/* Wait until the server grants, after it was started again. */
void grown_up(const struct scene *s);

dlock_lock *mutex(dlock_client *c, const char *name);

/* The server's key of the lock "x", whose own key is "lnx": valid until the
 * server is started again.  Static: there is one of each at a time. */
const char *key_of(const struct scene *s, const char *key);

/* `format` with that key in the place of its %s.  Static, likewise. */
const char *with_key(const struct scene *s, const char *format,
		     const char *key);

/* The mark with that key: how long it has, by what it says and by the server;
 * and make it one that has no longer than this. */
int64_t mark_left_s(const struct scene *s, const char *key);
void mark_ends_in(const struct scene *s, const char *key, int64_t left_s);

/* A number that the server's `stats` tells: "STAT cmd_get ". */
uint64_t stat_of(const struct scene *s, const char *name);

/* Count the gets of an acquire and a release of a free lock. */
uint64_t gets_of_a_pair(const struct scene *s, dlock_lock *l);

/* How long the call took; it must answer `rc`. */
int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc);

/* An acquire in a thread of its own, and a release. */
struct waiter {
	dlock_lock *lock;
	int64_t timeout_ms;
	int rc;
	pthread_t thread;
};

void waiter_start(struct waiter *w, dlock_lock *l, int64_t timeout_ms);
int waiter_join(struct waiter *w); /* the acquire's answer */

uint64_t attempts_of(dlock_client *c);

/* The library must not notice the loss of this hold later than it says. */
void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms);

#endif
