/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the memcached store share: a private server, a proxy before
 * it, clients that go through either.  Checks are those of support/check.h.
 */
#ifndef DLOCK_TESTS_MEMCACHED_SUPPORT_H
#define DLOCK_TESTS_MEMCACHED_SUPPORT_H

#include <criterion/criterion.h>
#include <dlock/dlock.h>

#include "lab/memcached.h"
#include "lab/proxy.h"
#include "support/wait.h"

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

/* Wait until the server grants, after it was started again. */
void grown_up(const struct scene *s);

dlock_lock *mutex(dlock_client *c, const char *name);
dlock_hold *take(dlock_lock *l);
void give(dlock_hold *h);

/* How long the call took; it must answer `rc`. */
int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc);

/* The library must not notice the loss of this hold later than it says. */
void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms);

#endif
