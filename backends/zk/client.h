/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client library, in the variant without threads: dlock has a copy, with
 * renamed symbols.  The program may use the same library, or the variant with
 * threads, which exports the same symbols.
 */
#ifndef DLOCK_BACKENDS_ZK_CLIENT_H
#define DLOCK_BACKENDS_ZK_CLIENT_H

#include "zkc_names.h"

#include <sys/types.h>
#include <zookeeper/zookeeper.h>

/* Once for the process: turn the library's log off.  The log contains session
 * passwords, and goes to buffers shared by all handles.  dlock logs from the
 * library's events instead. */
void dlki_zk_client_silence(void);

/* The library's socket() and send(). */
int dlki_zkc_socket(int domain, int type, int protocol);
ssize_t dlki_zkc_send(int fd, const void *data, size_t len, int flags);

#endif
