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

#include <pthread.h>
#include <stdatomic.h>

#include "lab/proxy.h"
#include "lab/zookeeper.h"
#include "support/check.h"
#include "support/wait.h"

#define FOREVER (-1)
#define PATIENCE 20000

struct lab_server *server(const struct lab_zk_options *options);
struct lab_proxy *proxy(const struct lab_server *s);

/* Open zk://127.0.0.1:PORT/PARAMS; opening must fail likewise with `code` and
 * mention `part`. */
dlock_client *client(int port, const char *params);
dlock_client *client_with(int port, const char *params,
			  const dlock_options *opts);
dlock_client *watched_client(int port, const char *params);
void refused(int port, const char *params, int code, const char *part);

/* What the events of watched clients came to. */
extern atomic_int at_risk, safe, lost;

/* Freed when the test's process ends. */
dlock_lock *mutex(dlock_client *c, const char *name);
dlock_lock *rwlock(dlock_client *c, const char *name);
dlock_hold *take(dlock_lock *l, int64_t timeout_ms);
struct dlock_stats stats(dlock_client *c);

/* A thread that acquires, and says when it has. */
struct waiter {
	dlock_lock *lock;
	int64_t timeout_ms;
	pthread_t thread;
	atomic_int over;
	int rc;
	dlock_hold *hold;
	int released; /* what that was answered */
};
void waiter_start(struct waiter *w, dlock_lock *lock, int64_t timeout_ms);
int waiter_join(struct waiter *w); /* its rc; what it got was released */

/* The bare handle. */
zhandle_t *bare(int port);
/* How many nodes there are below `path`, 0 if it is not there; the name of one
 * of them goes to `name`, which may be NULL. */
int children(zhandle_t *zh, const char *path, char name[256]);
int children_are(zhandle_t *zh, const char *path, int n);
int64_t watches(struct lab_server *s); /* that the server keeps */
void make(zhandle_t *zh, const char *path);
void drop(zhandle_t *zh, const char *dir, const char *name);

#endif
