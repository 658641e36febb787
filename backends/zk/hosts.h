/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers that the URI names, and how long to wait for each.
 */
#ifndef DLOCK_BACKENDS_ZK_HOSTS_H
#define DLOCK_BACKENDS_ZK_HOSTS_H

#include "backends/zk/zk.h"

/* `shown`, `host`, `n` and `connect_ns` are constant once it connects.  The
 * session's job alone moves `at`.  The session's lock guards the others. */
struct zk_hosts {
	char *shown;          /* for people */
	char **host;          /* what each handle is given, by turns */
	size_t n;
	size_t at;            /* the one in use */
	uint64_t misses;      /* handles in a row that did not connect */
	dlk_time patience_ns; /* with a server that owes an answer */
	dlk_time connect_ns;  /* with one that is being connected to */
	dlk_time looked;      /* when somebody last looked why there is none; 0:
			       * not since there was one */
	struct dlk_error why; /* what was seen then; code 0: nothing yet */
};

/* Set hosts, config.ttl_ms and tick_ms.  The order is random, so that
 * clients spread over the servers.  To be freed after a failure, too. */
int dlki_zk_hosts_set(struct zk_session *s, const struct dlk_session *base,
		      struct dlk_error *err);
void dlki_zk_hosts_free(struct zk_session *s);
/* With the session not locked.  None could be connected to: `err` is to say
 * why, by a look at each, which is taken once a second at most. */
void dlki_zk_hosts_why(struct zk_session *s, const struct dlk_uri *uri,
		       dlk_time deadline, struct dlk_error *err);

#endif
