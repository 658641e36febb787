/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's context and a session with a peer, for a test.
 */
#ifndef TESTS_TLS_CLIENT_H
#define TESTS_TLS_CLIENT_H

#include "tests/tls/certs.h"
#include "tests/tls/peer.h"

struct client {
	struct dlki_tls_context *context;
	struct dlki_tls *t;
	struct peer peer;
	struct dlk_error err;
	char got[4096]; /* plaintext received */
};

extern struct client client;

/* The authorities are in "ca.pem", unless the options name others or verify no
 * certificate. Both arguments may be NULL. */
void client_open(const struct dlki_tls_options *o,
		 const struct peer_options *peer);
void client_close(void);

/* A session with the server at `host`, to the end of the handshake.  Returns 0
 * or the failure, and client.err says why. */
int client_meets(const char *host);

/* The session's end, and another connection of the peer's. */
void client_leaves(void);

/* All bytes both ways; 0 or the failure. */
int client_exchange(void);

void client_says(const char *text);

/* Bytes of no peer's. */
int client_hears(const void *bytes, size_t n);

#endif
