/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools of the ZooKeeper store's cases: a server, perhaps with a proxy in
 * front, clients of dlock, and a bare handle of the client library to look at
 * the nodes.
 */
#ifndef DLOCK_TESTS_ZK_SUPPORT_H
#define DLOCK_TESTS_ZK_SUPPORT_H

#include <dlock/dlock.h>
#include <zookeeper/zookeeper.h>

#include "lab/proxy/proxy.h"
#include "lab/servers/zookeeper.h"
#include "support/case.h"
#include "support/diary.h"
#include "support/hold.h"
#include "support/locks.h"
#include "support/opening.h"
#include "support/served.h"
#include "support/taker.h"

#define PATIENCE 20000

/* CASE() ends all that these functions make. */
struct lab_server *server(const struct lab_zk_options *options);
/* Find the program's server (tests/servers/conform_on.c), or start a server.
 * Other cases use the server at the same time: do not stop the server, do not
 * count watches or sessions, and read only the port.  The case's own path is
 * the root of all later clients and bare handles. */
struct lab_server *shared_server(void);
struct lab_proxy *proxy(const struct lab_server *s);

/* A CASE() whose body has a server `s`: the program's, or a server alone. */
#define SHARED(suite, name) CASE_ON(shared_server(), suite, name)
#define OWN(suite, name) CASE_ON(server(NULL), suite, name)
#define CASE_ON(server, suite, name)                                           \
	static void name##_on(struct lab_server *s);                           \
	CASE(suite, name)                                                      \
	{                                                                      \
		name##_on(server);                                             \
	}                                                                      \
	static void name##_on(struct lab_server *s)

/* Print the URI.  `user` is "" or ends in "@". */
void uri_as(char out[512], const char *user, int port, const char *params);
/* Open zk://127.0.0.1:PORT/PARAMS.  refused(): opening must fail with `code`,
 * and the message has `part`. */
dlock_client *client(int port, const char *params);
/* The URI names other servers, too: ",HOST:PORT" each. */
dlock_client *client_beside(int port, const char *others, const char *params);
dlock_client *client_with(int port, const char *params,
			  const dlock_options *opts);
dlock_client *watched_client(int port, const char *params);
void refused(int port, const char *params, int code, const char *part);

/* The events of watched clients. */
extern struct diary diary;

/* The processor time of this process. */
int64_t cpu_ms(void);

/* Check that a try is busy. */
void is_busy(dlock_lock *l);

/* Wait for the acquire's answer, and check that the hold was released. */
int waiter_join(struct taker *w);

/* The case's bare handle of the latest server, made at the first use.
 * bare_of(): another, of the session `id`, or NULL. */
zhandle_t *bare(void);
zhandle_t *bare_of(int port, const clientid_t *id);
/* Count the nodes below `path`, 0 if there is no such node, and copy the name
 * of a node to `name`, which may be NULL. */
int children(const char *path, char name[256]);
int children_are(const char *path, int n);
/* Count the server's watches: on locks, and on the node of tokens. */
int64_t watches(struct lab_server *s);
int64_t token_watches(struct lab_server *s);
void make(const char *path);
void drop(const char *dir, const char *name);

#endif
