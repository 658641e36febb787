/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client library, the one without threads: dlock has a copy of it, whose
 * symbols have names of their own.  The program may use the same library, or
 * the one with threads, which exports the same symbols.
 */
#ifndef DLOCK_BACKENDS_ZK_CLIENT_H
#define DLOCK_BACKENDS_ZK_CLIENT_H

#include "zkc_names.h"

#include <sys/types.h>
#include <zookeeper/zookeeper.h>

/* Once for the process: the library is to log nothing.  Its log contains
 * session passwords, and is written to buffers that all handles share.  We log
 * what matters from its events. */
void dlki_zk_client_silence(void);

/* What the library calls as socket() and send(). */
int dlki_zkc_socket(int domain, int type, int protocol);
ssize_t dlki_zkc_send(int fd, const void *data, size_t len, int flags);

#endif
