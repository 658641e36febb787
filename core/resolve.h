/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hosts to addresses, under a deadline.
 */
#ifndef DLOCK_CORE_RESOLVE_H
#define DLOCK_CORE_RESOLVE_H

#include <dlock/backend.h>

struct addrinfo;

/*
 * The stream addresses of `host`, at least one; freed with freeaddrinfo().
 * `host` is a name or an address; that of an IPv6 host may have a scope.
 *
 * The system's resolver knows no deadline, so a name is looked up by a thread
 * of its own, which is left behind with what it owns if it takes too long.  An
 * address needs no thread.
 *
 * EUNREACHABLE names the host: there is none, or the resolver could not tell.
 * ENOMEM, EEXHAUSTED, ESYSTEM: it is us.
 */
int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 dlk_time deadline, struct dlk_error *err);

#endif
