/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client has in the store: one ZooKeeper session, and another one
 * after it has expired.  It outlives the core's session where closing takes
 * longer than it may.
 *
 * Locking.  `mu` guards everything here but what is marked otherwise.  "With
 * the session locked" means that the caller holds it.  It is held while
 * requests are sent, which does not block, and while the core's services are
 * called.  It is never held while a handle of the client library is made or
 * closed: that waits for callbacks, which take it.
 */
#ifndef DLOCK_BACKENDS_ZK_SESSION_H
#define DLOCK_BACKENDS_ZK_SESSION_H

#include <pthread.h>

#include "backends/zk/addresses.h"
#include "backends/zk/directory.h"
#include "backends/zk/drive.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/hosts.h"
#include "backends/zk/lease.h"
#include "backends/zk/orphans.h"
#include "backends/zk/probe.h"
#include "backends/zk/timer.h"
#include "backends/zk/tokens.h"
#include "backends/zk/upkeep.h"
#include "backends/zk/wait.h"
#include "backends/zk/watch.h"
#include "backends/zk/watcher.h"
#include "backends/zk/zk.h"

/* From the URI.  Constant once it connects, and so read without the lock:
 * written by zk.c and hosts.c. */
struct zk_config {
	char *auth;                  /* "user:password" or NULL */
	int ttl_ms;                  /* what we ask for as session time-out */
	char base[ZK_ROOT_MAX + 80]; /* chroot and prefix */
	char root[ZK_ROOT_MAX + 1];  /* chroot, "" for none */
	int create;                  /* the root, if it is missing */
};

struct zk_session {
	pthread_mutex_t mu;
	pthread_cond_t changed;   /* conn, its state, upkeep.ended */
	struct dlk_session *core; /* NULL: closed, no more services */
	struct zk_conn *conn;     /* NULL: there is none */
	uint64_t generation;      /* counts the ZooKeeper sessions, from 1 */
	uint64_t connects;        /* rises with each connection and session */
	uint32_t revokes;         /* counts them, for names */
	const char *ended;        /* why the last session is over; NULL: it is
				   * not, or there is another one */
	int64_t tick_ms;          /* no server's tickTime is more */
	int tick_told;            /* ... by the servers, not by the URI */
	struct zk_config config;
	struct zk_hosts hosts;
	struct zk_addresses addresses;
	struct zk_upkeep upkeep;
	struct zk_timer timer;
	struct zk_drive drive;
	struct zk_waits waits;
	struct zk_lease lease;
	struct zk_probe probe;
	struct zk_watchers watchers;
	struct zk_watches watches;
	struct zk_directories directories;
	struct zk_orphans orphans;
	struct zk_fastpath fastpath;
	struct zk_tokens tokens;
};

/* Without a connection.  NULL: out of memory. */
struct zk_session *dlki_zk_session_new(struct dlk_session *core);
/* Nobody uses it any more. */
void dlki_zk_session_free(struct zk_session *s);

/* Lock it and wait until it is connected.  After a failure it is not locked. */
int dlki_zk_enter(struct zk_session *s, dlk_time deadline,
		  struct dlk_error *err);
void dlki_zk_leave(struct zk_session *s);
/* With the session locked: a request failed.  Wait a moment for the loss of the
 * connection to be noticed, before it is made again. */
void dlki_zk_await_change(struct zk_session *s, dlk_time deadline);

#endif
