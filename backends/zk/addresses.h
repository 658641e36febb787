/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of the host in use.  Each handle gets an address, so that the
 * client library resolves no names.
 */
#ifndef DLOCK_BACKENDS_ZK_ADDRESSES_H
#define DLOCK_BACKENDS_ZK_ADDRESSES_H

#include "backends/zk/zk.h"
#include "core/net/resolver.h"

#define ZK_ADDRESS_SIZE 128 /* numbers, with the port */

/* The session's job's own; no lock is needed. */
struct zk_addresses {
	struct dlki_found found;
	size_t first, tried; /* from a random index on */
};

/* Return the next address to connect to, as text for the library.  With the
 * session not locked, by the session's job: to resolve a name may take
 * `connect_ns`. */
int dlki_zk_address_next(struct zk_session *s, char out[ZK_ADDRESS_SIZE],
			 struct dlk_error *err);
/* Are there addresses not tried yet? */
int dlki_zk_addresses_left(const struct zk_session *s);
void dlki_zk_addresses_forget(struct zk_session *s);
/* The next address is of the next server. */
void dlki_zk_address_of_next_server(struct zk_session *s);

#endif
