/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client library leaves its descriptors open over exec.  Pipes that appear
 * between two of these calls are closed there, and sockets connected to a peer.
 */
#ifndef DLOCK_BACKENDS_ZK_FDS_H
#define DLOCK_BACKENDS_ZK_FDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The caller's own; no lock is needed. */
struct zk_fds {
	uint64_t *pipes; /* that were there */
	size_t n, room;
	int failed;
};

/* -1: out of memory, and there is nothing to end. */
int dlki_zk_fds_before(struct zk_fds *fds);
void dlki_zk_fds_pipes(struct zk_fds *before);
void dlki_zk_fds_sockets(const struct sockaddr *peer, socklen_t len);

#endif
