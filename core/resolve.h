/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hosts to addresses, under a deadline.
 */
#ifndef DLOCK_CORE_RESOLVE_H
#define DLOCK_CORE_RESOLVE_H

#include <dlock/backend.h>
#include <stdatomic.h>

struct addrinfo;

/* How often a flag that ends waiting is looked at. */
#define DLKI_STOP_SLICE_NS INT64_C(20000000)

/*
 * The stream addresses of `host`, at least one; freed with freeaddrinfo().
 * `host` is a name or an address; that of an IPv6 host may have a scope.
 *
 * The system's resolver knows no deadline, so a name is looked up by a thread
 * of its own, which is left behind with what it owns if it takes too long.  An
 * address needs no thread.
 *
 * Once `stop` is set, if it is not NULL, the deadline has come.
 *
 * EUNREACHABLE names the host: there is none, or the resolver could not tell.
 * ENOMEM, EEXHAUSTED, ESYSTEM: it is us.
 */
int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 const atomic_int *stop, dlk_time deadline,
		 struct dlk_error *err);

#endif
