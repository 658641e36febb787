/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS by OpenSSL, for the files core/net/tls_*.c.
 *
 * OpenSSL keeps a queue of errors for each thread, and SSL_get_error() believes
 * the oldest.  So a call whose failure counts empties the queue first, for the
 * sake of this library, and after the failure, for the program's.
 */
#ifndef DLOCK_CORE_NET_TLS_OPENSSL_H
#define DLOCK_CORE_NET_TLS_OPENSSL_H

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "core/net/tls.h"

/* ---- Past sessions: tls_context.c ---------------------------------------- */

/* A host name has at most 253 bytes, a peer at most 119. */
enum { DLKI_TLS_KEY = 400, DLKI_TLS_PAST = 8 };

/* The last sessions of the client with some servers, each to be resumed. */
struct dlki_tls_past {
	struct {
		char key[DLKI_TLS_KEY]; /* server, and the name verified */
		SSL_SESSION *session;   /* or NULL */
	} v[DLKI_TLS_PAST];
	size_t next; /* to be replaced */
};

/* Find the past session; borrowed, or NULL. */
SSL_SESSION *dlki_tls_past_find(const struct dlki_tls_past *t, const char *key);

/* Keep the session instead of an earlier session with the server.  The
 * reference passes to `t`. */
void dlki_tls_past_keep(struct dlki_tls_past *t, const char *key,
			SSL_SESSION *session);
void dlki_tls_past_drop(struct dlki_tls_past *t, const char *key);
void dlki_tls_past_free(struct dlki_tls_past *t);

/* ---- Context: tls_context.c ---------------------------------------------- */

struct dlki_tls_client {
	struct dlki_tls_context base;
	SSL_CTX *ssl;
	enum dlki_tls_verify verify;
	char *name;   /* or NULL */
	char *ca;     /* or NULL; for messages */
	int has_cert;
	struct dlki_tls_past past;
};

/* ---- Session: tls_session.c ---------------------------------------------- */

struct dlki_tls_session {
	struct dlki_tls base;
	struct dlki_tls_client *client;
	SSL *ssl;
	BIO *in, *out;        /* the SSL's: ciphertext */
	int heard;            /* bytes have come */
	int closed;           /* by the server, in good order */
	char name[256];       /* must be in the certificate; empty: any name */
	char key[DLKI_TLS_KEY]; /* of the past session */
	struct dlk_error flaw; /* of the server's certificate */
	struct dlk_error why;  /* code != 0: the session has failed */
};

extern const struct dlki_tls_type dlki_tls_openssl;

/* ---- Reasons, for people: tls_reason.c ----------------------------------- */

/* Parse an address: 4 or 16 bytes; 0: `name` is a host's name. */
size_t dlki_tls_address(const char *name, unsigned char out[16]);

/* Fill in s->flaw: OpenSSL's verification found an error in a certificate. */
void dlki_tls_flaw(struct dlki_tls_session *s, X509_STORE_CTX *store);

/* Fill in s->why: the session failed, and OpenSSL's last error says how. */
void dlki_tls_reason(struct dlki_tls_session *s);

/* Fill in err with OpenSSL's last error: "<doing>: <error>". */
int dlki_tls_error(struct dlk_error *err, int code, const char *doing);

#endif
