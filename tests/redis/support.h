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

#include "lab/proxy/proxy.h"
#include "lab/servers/redis.h"
#include "support/case.h"
#include "support/diary.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/taker.h"
#include "support/wait.h"

/* ---- Servers ------------------------------------------------------------- */

/* What is started, opened and made here is ended behind the case.  In the
 * server nothing must be left soon: no key, nobody connected. */
struct lab_server *server_start(const struct lab_redis_options *options);
struct lab_proxy *proxy_start(const struct lab_server *s);

/* Free it now, or behind the case, whatever is left in it. */
void server_abandon(struct lab_server *s);
void server_unchecked(struct lab_server *s);

/* Before anything that was made so far is ended. */
void healed_at_end(struct lab_proxy *p);

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

/* ---- Clients ------------------------------------------------------------- */

/* "redis://127.0.0.1:PORT/QUERY".  Static, per thread. */
const char *uri_of(int port, const char *query);

/* `query` may be NULL; unless it says otherwise a request may take long, so
 * that a busy machine is not mistaken for a broken server. */
dlock_client *client_of(int port, const char *query, struct diary *d);

/* The mutex "x" of another client: its holder's thread is no sibling of the
 * waiters', which would otherwise wait for the claim of their own client. */
dlock_lock *elsewhere(const struct lab_server *s, const char *query);

/* Opening must fail with `code` and mention `part`. */
void refused(const char *uri, int code, const char *part);

/* One pair, so that the server knows the scripts and there is a connection. */
void warm_up(dlock_client *c);

/* One that was opened otherwise is closed behind the case, too. */
dlock_client *closed_at_end(dlock_client *c);

/* The client listens to the notification channel from now on: a later waiter of
 * the client's asks once. */
void listening(struct lab_server *s, dlock_client *c);

/* Free the handle, and close its client, now. */
void end(dlock_client *c, dlock_lock *l);

/* A server and two clients of it, warmed up, of which the first keeps a
 * diary. */
struct lab_server *two_start(const char *query, struct diary *d,
			     dlock_client **first, dlock_client **second);

/* ---- Clients that die ---------------------------------------------------- */

/* Three clients of a server: one for the holder, a second one behind `proxy`,
 * which is to be cut off, and a third for who waits behind that. */
struct lab_server *three_start(const char *query, struct lab_proxy **proxy,
			       dlock_client **first, dlock_client **dying,
			       dlock_client **last);

/* The client behind the proxy is as good as dead.  bury() then ends its waits,
 * `n` of them. */
void cut_off(struct lab_proxy *p);
void bury(struct lab_proxy *p, struct taker t[], int n);

#endif
