/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers of the URI, and how long to wait for each.
 */
#ifndef DLOCK_BACKENDS_ZK_HOSTS_H
#define DLOCK_BACKENDS_ZK_HOSTS_H

#include "backends/zk/zk.h"

/* `shown`, `host`, `n` and `connect_ns` are constant once the session connects.
 * The session's job alone moves `at`.  The session's lock guards the others. */
struct zk_hosts {
	char *shown;          /* for people */
	char **host;          /* the handles' servers, by turns */
	size_t n;
	size_t at;            /* the server in use */
	uint64_t misses;      /* servers in a row without a connection, at any
			       * address */
	uint64_t silences;    /* handles since the last connection that were
			       * left, because the server began no session */
	dlk_time patience_ns; /* with a server that owes an answer */
	dlk_time connect_ns;  /* with a server being connected to */
	dlk_time looked;      /* of the last look why there is no connection; 0:
			       * not since a connection */
	struct dlk_error why; /* the finding; code 0: not yet */
};

/* Set hosts, config.ttl_ms and tick_ms.  The order is random, so that clients
 * spread over the servers.  Free the list after a failure, too. */
int dlki_zk_hosts_set(struct zk_session *s, const struct dlk_session *base,
		      struct dlk_error *err);
void dlki_zk_hosts_free(struct zk_session *s);
/* With the session not locked.  No server could be connected to: have `err` say
 * why, by a look at each, once a second at most. */
void dlki_zk_hosts_why(struct zk_session *s, const struct dlk_uri *uri,
		       dlk_time deadline, struct dlk_error *err);

#endif
