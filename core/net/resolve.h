/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hosts to addresses, under a deadline.
 *
 * The system's resolver knows no deadline, so a thread looks a name up, one for
 * each name in this process.  All callers that want the name wait for that
 * thread, and leave it behind at their deadline.  If the name service does not
 * answer, the last addresses are used; they are kept while there are users.
 */
#ifndef DLOCK_CORE_NET_RESOLVE_H
#define DLOCK_CORE_NET_RESOLVE_H

#include <dlock/backend.h>

struct addrinfo;

/* A client begins to need names, and is done with them.  The end of the last
 * client forgets all answers. */
void dlki_resolve_begin(void);
void dlki_resolve_end(void);

/*
 * Resolve `host` to stream addresses, at least one; freed with
 * dlki_resolve_free(), not freeaddrinfo().  `host` is a name or an address; an
 * IPv6 address may have a scope.  An address needs no look-up.
 *
 * EUNREACHABLE names the host: there is no such host, or the resolver could not
 * tell.  ENOMEM, EEXHAUSTED, ESYSTEM: this process or host is short of a
 * resource.
 */
int dlki_resolve(struct addrinfo **out, const char *host, uint16_t port,
		 dlk_time deadline, struct dlk_error *err);
void dlki_resolve_free(struct addrinfo *list);

#endif
