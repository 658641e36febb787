/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the memcached store: a private server behind a proxy,
 * clients by either way, and the server's items. */
#ifndef DLOCK_TESTS_MEMCACHED_SUPPORT_H
#define DLOCK_TESTS_MEMCACHED_SUPPORT_H

#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <pthread.h>

#include "lab/proxy/proxy.h"
#include "lab/servers/memcached.h"
#include "support/case.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/served.h"
#include "support/taker.h"
#include "support/wait.h"

struct scene {
	struct lab_server *server;
	struct lab_proxy *proxy;
	const char *protocol;
};

/* Start a server, and wait until the server grants.  The case's end frees the
 * scene. */
struct scene scene_new(const char *protocol,
		       const struct lab_memcached_options *options);

/* A case in each of the two protocols, on a server with or without options: the
 * body has the scene `s`. */
#define EITHER_WAY(suite, name) EITHER_WAY_ON(suite, name, NULL)
#define EITHER_WAY_ON(suite, name, options)                                    \
	static void name(struct scene s);                                      \
	CASE(suite, name##_meta)                                               \
	{                                                                      \
		name(scene_new("meta", options));                              \
	}                                                                      \
	CASE(suite, name##_text)                                               \
	{                                                                      \
		name(scene_new("text", options));                              \
	}                                                                      \
	static void name(struct scene s)

/* Open a client by the proxy or without, until the case's end; `query` may be
 * "". */
dlock_client *by_proxy(const struct scene *s, const char *query);
dlock_client *direct(const struct scene *s, const char *query);

/* Return the server's key for a key of the store: "lnx" is the lock "x".  Valid
 * until the next call or restart. */
const char *key_of(const struct scene *s, const char *key);

/* Run a command, with the server's key in the place of %s (NULL: without a
 * key), and return the reply: valid until the thread's next command. */
const char *scene_do(const struct scene *s, const char *format,
		     const char *key);

/* Store an item, by "add" or "set", which must succeed. */
void scene_put(const struct scene *s, const char *verb, const char *key,
	       int64_t life_s, const char *text);

/* The mark with this key: return the time left, by the text and by the server,
 * whichever is shorter; set the time left. */
int64_t mark_left_s(const struct scene *s, const char *key);
void mark_ends_in(const struct scene *s, const char *key, int64_t left_s);

/* Return a number of the server's `stats`: "STAT cmd_get ". */
uint64_t stat_of(const struct scene *s, const char *name);

/* Acquire, expect `rc`, and return the time that the call took. */
int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc);

/* The client must learn of the loss in time. */
void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms);

#endif
