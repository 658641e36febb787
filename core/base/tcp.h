/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP connection to a store.
 */
#ifndef DLOCK_CORE_BASE_TCP_H
#define DLOCK_CORE_BASE_TCP_H

/* Send small requests at once, and find a dead peer within half a minute.  The
 * options only make a connection better: a failure is ignored. */
void dlki_tcp_tune(int fd);

/* Is the socket connected to itself?  The kernel can deal a free port of this
 * host to the very socket that connects to the port. */
int dlki_tcp_is_echo(int fd);

#endif
