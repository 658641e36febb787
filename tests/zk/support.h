/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the ZooKeeper store share: a server, perhaps with a proxy
 * in front of it, clients of ours, and a bare handle of the client library that
 * looks at what they leave there.
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
#include "support/taker.h"

#define PATIENCE 20000

/* What these make is ended behind a CASE(); a Test() ends it itself. */
struct lab_server *server(const struct lab_zk_options *options);
/* The server that the program was given (tests/servers/conform_on.c), else one
 * as server(NULL) makes it.  Other cases use it at the same time: do not stop
 * it, nor count what it keeps, and read only its port.  Below, the case's own
 * path is the root of all clients and bare handles. */
struct lab_server *shared_server(void);
struct lab_proxy *proxy(const struct lab_server *s);

/* Print the URI; `user` is "" or ends in "@". */
void uri_as(char out[512], const char *user, int port, const char *params);
/* Open zk://127.0.0.1:PORT/PARAMS; opening must fail likewise with `code` and
 * mention `part`. */
dlock_client *client(int port, const char *params);
dlock_client *client_with(int port, const char *params,
			  const dlock_options *opts);
dlock_client *watched_client(int port, const char *params);
void refused(int port, const char *params, int code, const char *part);

/* What watched clients told. */
extern struct diary diary;

/* Freed when the test's process ends. */
dlock_lock *mutex(dlock_client *c, const char *name);
dlock_lock *rwlock(dlock_client *c, const char *name);

/* The acquire's answer; what it got was released. */
int waiter_join(struct taker *w);

/* The bare handle; likewise. */
zhandle_t *bare(int port);
/* How many nodes there are below `path`, 0 if it is not there; the name of one
 * of them goes to `name`, which may be NULL. */
int children(zhandle_t *zh, const char *path, char name[256]);
int children_are(zhandle_t *zh, const char *path, int n);
/* That the server keeps: on locks, and on the node that tokens come from. */
int64_t watches(struct lab_server *s);
int64_t token_watches(struct lab_server *s);
void make(zhandle_t *zh, const char *path);
void drop(zhandle_t *zh, const char *dir, const char *name);

#endif
