/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's context and session, for a test, and the server's end of TLS, in
 * memory: the peer.
 */
#ifndef TESTS_TLS_CLIENT_H
#define TESTS_TLS_CLIENT_H

#include <openssl/ssl.h>
#include <stddef.h>

#include "core/net/tls.h"
#include "tests/tls/certs.h"

struct peer {
	SSL_CTX *ctx; /* kept over connections: sessions can be resumed */
	SSL *ssl;
	BIO *in, *out;
	char said[200000]; /* plaintext received */
	size_t said_len;
};

struct peer_options {
	const char *cert;      /* NAME of tests/tls/certs.h; NULL: "server" */
	int version;           /* TLS1_2_VERSION: only 1.2; 0: 1.3 */
	const char *client_ca; /* the client must have a certificate by NAME */
};

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

/* ... and certs_end(): the .fini of suites with certs_begin() as .init. */
void client_end(void);

/* Begin a session with the server "localhost". */
void client_begins(void);

/* A session with the server at `host`, to the end of the handshake.  Returns 0
 * or the failure, and client.err says why. */
int client_meets(const char *host);

/* The session's end, and another connection of the peer's. */
void client_leaves(void);

/* All bytes both ways, in pieces of at most `piece` bytes; 0 or the failure. */
int client_exchange(void);
int client_exchange_by(size_t piece);

void client_says(const char *text);

/* Bytes of no peer's. */
int client_hears(const void *bytes, size_t n);

/* ---- The peer ------------------------------------------------------------ */

void peer_init(const struct peer_options *o);

/* Another connection. */
void peer_again(void);
void peer_free(void);

/* Ciphertext for the peer: the peer shakes hands and reads. */
void peer_hears(const void *bytes, size_t n);

/* Plaintext of the peer's, sealed. */
void peer_says(const void *bytes, size_t n);

/* Take the peer's ciphertext: at most `size` bytes. */
size_t peer_take(void *out, size_t size);

#endif
