/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet of three private servers, with clients. */
#ifndef DLOCK_TESTS_MEMCACHED_FLEET_THREE_H
#define DLOCK_TESTS_MEMCACHED_FLEET_THREE_H

#include "backends/memcached/pool/pool.h"
#include "memcached/support.h"

enum { FLEET = 3 };

struct fleet {
	struct lab_server *servers[FLEET];
	char uri[200];          /* the servers in their order, and "/?" */
	struct memc_pool *pool; /* ... with the default method */
};

/* Start the servers, with these options or NULL, until the case's end, and wait
 * until they grant. */
void fleet_begin(struct fleet *f, const struct lab_memcached_options *o);

/* Open a client of the fleet, with more parameters or "", until the case's
 * end. */
dlock_client *client(const struct fleet *f, const char *query);

/* Return a name that server `i` keeps.  Static. */
const char *name_on(const struct fleet *f, size_t i);

/* Does the server have the item, and the gate of the lock? */
int has_item(struct lab_server *s, const char *key);
int has_lock(struct lab_server *s, const char *name);

#endif
