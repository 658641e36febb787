/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's end of TLS, in memory, and the exchange of bytes with a session.
 */
#ifndef TESTS_TLS_PEER_H
#define TESTS_TLS_PEER_H

#include <openssl/ssl.h>
#include <stddef.h>

#include "core/net/tls.h"

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

void peer_init(struct peer *p, const struct peer_options *o);

/* Another connection. */
void peer_again(struct peer *p);
void peer_free(struct peer *p);

/* Ciphertext for the peer: the peer shakes hands and reads. */
void peer_hears(struct peer *p, const void *bytes, size_t n);

/* Plaintext of the peer's, sealed. */
void peer_says(struct peer *p, const void *bytes, size_t n);

/* Take the peer's ciphertext: at most `size` bytes. */
size_t peer_take(struct peer *p, void *out, size_t size);

/* ---- With a session ------------------------------------------------------ */

/* Both ways, in pieces of `piece` bytes at most, until neither has more to say;
 * plaintext that comes to the session is appended to `got` (room 4096), if not
 * NULL.  Returns 0 or the session's failure. */
int exchange(struct dlki_tls *t, struct peer *p, size_t piece, char *got,
	     struct dlk_error *err);

#endif
