/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a TCP connection to a store.
 */
#ifndef DLOCK_CORE_BASE_TCP_H
#define DLOCK_CORE_BASE_TCP_H

/* Send small requests at once, and find a dead peer within half a minute.  The
 * options only make a connection better: a failure is ignored. */
void dlki_tcp_tune(int fd);

#endif
