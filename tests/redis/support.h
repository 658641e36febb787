/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the Redis store share: servers and clients, takers in
 * threads, what a client was told, and what a server has and did.  Checks are
 * those of support/check.h: the first that fails ends the test's process, and
 * its servers go with it.
 */
#ifndef DLOCK_TESTS_REDIS_SUPPORT_H
#define DLOCK_TESTS_REDIS_SUPPORT_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lab/proxy.h"
#include "lab/redis.h"
#include "support/locks.h"
#include "support/wait.h"

#define FOREVER (-1)

/* ---- Servers ------------------------------------------------------------- */

struct lab_server *server_start(const struct lab_redis_options *options);
struct lab_proxy *proxy_start(const struct lab_server *s);

/* A command that must succeed; its reply, until the thread's next. */
__attribute__((format(printf, 2, 3))) const char *
server_do(struct lab_server *s, const char *format, ...);

/* How often clients have sent scripts: whatever a lock does is one. */
uint64_t scripts_run(struct lab_server *s);

/* Calls of one command, those by scripts included. */
uint64_t calls(struct lab_server *s, const char *command);

/* Connections of other users than the lab's own. */
int connections(struct lab_server *s);

/* The key, in the server, of the only lock that there is. */
const char *only_key(struct lab_server *s);

/* Free the server, in which soon nothing must be left: no key, nobody
 * connected. */
void server_end(struct lab_server *s);

/* ---- Clients ------------------------------------------------------------- */

/* What a client was told; options_of() hands it over. */
struct diary {
	atomic_int risks, safes, losses;
	_Atomic int64_t lost_at; /* now_ms(), the first time */
	pthread_mutex_t mu;
	char log[8192]; /* lines */
};

#define DIARY_INIT { .mu = PTHREAD_MUTEX_INITIALIZER }

dlock_options options_of(struct diary *d);
int diary_says(struct diary *d, const char *part);

/* "redis://127.0.0.1:PORT/QUERY".  Static, per thread. */
const char *uri_of(int port, const char *query);

/* `query` may be NULL; unless it says otherwise a request may take long, so
 * that a busy machine is not mistaken for a broken server. */
dlock_client *client_of(int port, const char *query, struct diary *d);

/* Opening must fail with `code` and mention `part`. */
void refused(const char *uri, int code, const char *part);


/* These must succeed. */
dlock_hold *take(dlock_lock *l, int64_t timeout_ms);
dlock_hold *take_shared(dlock_lock *l, int64_t timeout_ms);
void give(dlock_hold *h);

/* One pair, so that the server knows the scripts and there is a connection. */
void warm_up(dlock_client *c);

struct dlock_stats stats_of(dlock_client *c);

/* Free the handle, and close its client. */
void end(dlock_client *c, dlock_lock *l);

/* A server and two clients of it, warmed up, of which the first keeps a diary;
 * and the end of them all, as server_end(). */
struct lab_server *two_start(const char *query, struct diary *d,
			     dlock_client **first, dlock_client **second);
void two_end(struct lab_server *s, dlock_client *first, dlock_client *second);

/* ---- Threads ------------------------------------------------------------- */

/* An acquire in a thread of its own, which keeps its hold until let_go(). */
struct taker {
	pthread_t thread;
	dlock_lock *lock;
	int shared;
	int64_t timeout_ms;
	atomic_int done, leave;
	int rc, release_rc;
	uint64_t token;
	int64_t remaining_ms; /* at the grant */
	int64_t got_at;
	dlock_hold *hold;
};

/* Returns when it waits or is done, if `parked`: then takers stand in line in
 * the order of these calls. */
void taker_start(struct taker *t, dlock_client *c, dlock_lock *l,
		 int64_t timeout_ms, int parked);
void let_go(struct taker *t); /* and join it */

#endif
