/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a socket, and a resolver that does what tests need.
 *
 * The resolver knows these names; others it leaves to the system:
 *   slow.test    answers 127.0.0.1 once peer_resolver_goes_on() was called
 *   tired.test   answers 127.0.0.1 the first time, and 127.0.0.2 after that,
 *                once peer_resolver_goes_on() was called
 *   flaky.test   answers 127.0.0.1 the first time, and then does not answer
 *   pair.test    127.0.0.2, then 127.0.0.1
 *   absent.test  there is no such host
 *   mute.test    the name service does not answer
 *   full.test    no descriptor is left
 */
#ifndef DLOCK_TESTS_PEER_H
#define DLOCK_TESTS_PEER_H

#include <dlock/backend_net.h>
#include <stdint.h>

/* Listen at a numeric address; *port 0 is any, and becomes the one used.  -1:
 * this machine has no such address. */
int peer_listen(const char *host, uint16_t *port, int backlog);
int peer_listen_unix(const char *path, int backlog);

int peer_accept(int listener);
void peer_reset(int fd); /* close so that the other end sees a reset */

/* Connect to a peer of our own and return its end. */
int peer_tcp(struct dlk_net *n);
int peer_unix(struct dlk_net *n);

dlk_time peer_deadline(int64_t ms); /* `ms` from now */

void peer_resolver_goes_on(void);

int peer_names_resolved(void); /* how many were asked for, not addresses */

#endif
