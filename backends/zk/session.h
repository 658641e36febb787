/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's part in the store: a ZooKeeper session, and a new session after
 * the first has expired.  This struct outlives the core's session if closing
 * takes longer than allowed.
 *
 * Locking.  `mu` guards all members not marked otherwise.  "With the session
 * locked" means that the caller holds `mu`.  A thread holds `mu` while it sends
 * requests, which does not block, and while it calls the core's services.  A
 * thread never holds `mu` while it makes or closes a handle of the client
 * library: the library waits for callbacks, which take `mu`.
 */
#ifndef DLOCK_BACKENDS_ZK_SESSION_H
#define DLOCK_BACKENDS_ZK_SESSION_H

#include <pthread.h>

#include "backends/zk/addresses.h"
#include "backends/zk/conn.h"
#include "backends/zk/data.h"
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

/* From the URI.  Constant once the session connects, and so read without the
 * lock: written by zk.c and hosts.c. */
struct zk_config {
	char *auth;                  /* "user:password" or NULL */
	int ttl_ms;                  /* the session time-out to ask for */
	char base[ZK_ROOT_MAX + 80]; /* chroot and prefix */
	char root[ZK_ROOT_MAX + 1];  /* chroot, "" without one */
	int create;                  /* the root, if missing */
};

struct zk_session {
	pthread_mutex_t mu;
	pthread_cond_t changed;   /* conn, the state of conn, upkeep.ended */
	struct dlk_session *core; /* NULL: closed, no more services */
	struct dlki_attendant *attendant; /* of a client without threads;
				   * constant */
	struct zk_conn *conn;     /* NULL: not connected */
	uint64_t generation;      /* counts the ZooKeeper sessions, from 1 */
	uint64_t connects;        /* rises with each connection and session */
	const char *ended;        /* why the last session is over; NULL: not
				   * over, or there is a new session */
	int64_t tick_ms;          /* no server's tickTime is more */
	int tick_told;            /* ... by the servers, not by the URI */
	struct zk_config config;
	struct zk_hosts hosts;
	struct zk_addresses addresses;
	struct zk_upkeep upkeep;
	struct zk_timer timer;
	struct zk_drive drive;
	struct dlki_rouser rouser; /* of the waits; locks itself */
	struct zk_lease lease;
	struct zk_probe probe;
	struct zk_watchers watchers;
	struct zk_watches watches;
	struct zk_directories directories;
	struct zk_orphans orphans;
	struct zk_datas unanswered;
	struct zk_fastpath fastpath;
	struct zk_tokens tokens;
};

/* Without a connection.  NULL: out of memory. */
struct zk_session *dlki_zk_session_new(struct dlk_session *core);
/* No thread uses the session any more. */
void dlki_zk_session_free(struct zk_session *s);

/* Is the session connected?  With the session locked. */
static inline int dlki_zk_is_up(const struct zk_session *s)
{
	return s->conn && s->conn->state == ZK_UP;
}

/* Lock the session and wait until it is connected.  After a failure it is not
 * locked. */
int dlki_zk_enter(struct zk_session *s, dlk_time deadline,
		  struct dlk_error *err);
void dlki_zk_leave(struct zk_session *s);
/* With the session locked: a request failed.  Wait a moment for the loss of the
 * connection to be noticed, before the request is made again. */
void dlki_zk_await_change(struct zk_session *s, dlk_time deadline);

#endif
