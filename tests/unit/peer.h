/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a socket, and a resolver with the faults that tests need.
 *
 * The resolver knows these names, and passes other names to the system:
 *   slow.test    answers 127.0.0.1 once peer_resolver_goes_on() was called
 *   tired.test   answers 127.0.0.1 the first time, and 127.0.0.2 after that,
 *                once peer_resolver_goes_on() was called
 *   flaky.test   answers 127.0.0.1 the first time, and then does not answer
 *   pair.test    127.0.0.2, then 127.0.0.1
 *   absent.test, and every name with that in it: there is no such host
 *   mute.test    the name service does not answer
 *   full.test    no descriptor is left
 */
#ifndef DLOCK_TESTS_PEER_H
#define DLOCK_TESTS_PEER_H

#include <dlock/backend_net.h>
#include <stdint.h>

/* Listens at a numeric address, and sets *port, if 0, to the port in use.
 * Returns -1 if this machine has no such address. */
int peer_listen(const char *host, uint16_t *port, int backlog);

int peer_accept(int listener);
void peer_reset(int fd); /* closes, and the other end sees a reset */

/* Connects to a peer of our own; returns the peer's descriptor. */
int peer_tcp(struct dlk_net *n);

dlk_time peer_deadline(int64_t ms); /* `ms` from now */

void peer_resolver_goes_on(void);

int peer_names_resolved(void); /* counts the names, not the addresses */

#endif
