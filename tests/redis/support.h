/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the Redis store: servers, clients, and a server's keys
 * and counters.  The first check of support/check.h to fail ends the test's
 * process, and the servers with it.
 */
#ifndef DLOCK_TESTS_REDIS_SUPPORT_H
#define DLOCK_TESTS_REDIS_SUPPORT_H

#include <dlock/dlock.h>

#include "lab/proxy/proxy.h"
#include "lab/servers/redis.h"
#include "support/case.h"
#include "support/diary.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/served.h"
#include "support/taker.h"
#include "support/wait.h"

/* ---- Servers ------------------------------------------------------------- */

/* The case's end frees servers, proxies and clients.  By then, or soon after, a
 * server must have no key and no connection. */
struct lab_server *server_start(const struct lab_redis_options *options);

/* A replica of `master`, in step with the master; `config`: more lines of
 * redis.conf, or NULL. */
struct lab_server *replica_start(const struct lab_server *master,
				 const char *config);

/* Free the server now, without these checks. */
void server_abandon(struct lab_server *s);

/* Heal the proxy at the case's end, before the clients made so far close. */
void healed_at_end(struct lab_proxy *p);

/* Run a command, which must succeed, and return the reply: valid until the
 * thread's next command. */
__attribute__((format(printf, 2, 3))) const char *
server_do(struct lab_server *s, const char *format, ...);

/* Count the scripts sent by clients: every verb of a lock is a script. */
uint64_t scripts_run(struct lab_server *s);

/* Count the calls of a command, by clients and by scripts. */
uint64_t calls(struct lab_server *s, const char *command);

/* Count the connections, except the lab's. */
int connections(struct lab_server *s);

/* ---- Clients ------------------------------------------------------------- */

/* "redis://127.0.0.1:PORT/QUERY".  Static, per thread. */
const char *uri_of(int port, const char *query);

/* `query` may be NULL.  Without `ask` in the query a request may take long, so
 * a busy machine does not look like a broken server. */
dlock_client *client_of(int port, const char *query, struct diary *d);

/* Acquire and release once: teaches the server the scripts. */
void warm_up(dlock_client *c);

/* Free the handle and close the client, now. */
void end(dlock_client *c, dlock_lock *l);

/* A server with two clients, warmed up; the first keeps a diary. */
struct lab_server *two_start(const char *query, struct diary *d,
			     dlock_client **first, dlock_client **second);

#endif
