/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS over a link's stream of bytes.
 *
 * A session is a state machine between two streams: ciphertext, as the network
 * has it, and plaintext.  The link feeds the server's ciphertext and takes the
 * session's ciphertext; the link reads and writes plaintext.  No call waits or
 * touches a socket.  A session answers key updates and refuses renegotiation.
 *
 * The sessions of a client share a context: the authorities, the client's
 * certificate, and the past sessions that a later session may resume.
 *
 * LOCKS
 *  At most one thread at a time uses a context and the sessions of the context:
 *  for an engine's links, the thread with the engine's mutex.
 *
 * No call changes the process's signals, locale, environment or atexit()
 * functions.  A call may empty the thread's queue of OpenSSL's errors, and
 * leaves no error there.
 */
#ifndef DLOCK_CORE_NET_TLS_H
#define DLOCK_CORE_NET_TLS_H

#include <dlock/backend.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/net/bytes.h"

struct dlki_tls;

enum dlki_tls_verify {
	DLKI_TLS_FULL, /* the chain, and the name in the certificate */
	DLKI_TLS_CA,   /* the chain alone */
	DLKI_TLS_OFF   /* no check: any server is believed */
};

/* Bytes of plaintext in a record, at most. */
enum { DLKI_TLS_RECORD = 16 * 1024 };

struct dlki_tls_context {
	const struct dlki_tls_type *type;
};

/* A session's first member. */
struct dlki_tls {
	const struct dlki_tls_type *type;
	int up; /* the handshake is done: read() and write() may come */
};

/* Functions that return int or ssize_t return a negative code for a failure,
 * and `err` says why.  A failed session stays failed. */
struct dlki_tls_type {
	/* Begin a handshake.  `host` is the server's name in the URI, or NULL;
	 * `peer` tells servers apart, for the past sessions.  NULL: see err. */
	struct dlki_tls *(*begin)(struct dlki_tls_context *c, const char *host,
				  const char *peer, struct dlk_error *err);
	void (*end)(struct dlki_tls *t);

	/* Feed ciphertext from the server; it is copied. */
	int (*feed)(struct dlki_tls *t, const void *bytes, size_t n,
		    struct dlk_error *err);

	/* Read plaintext: the number of bytes; 0: no whole record is left.  A
	 * failure comes behind all plaintext before it. */
	ssize_t (*read)(struct dlki_tls *t, void *out, size_t size,
			struct dlk_error *err);

	/* Seal n <= DLKI_TLS_RECORD bytes in one record. */
	int (*write)(struct dlki_tls *t, const void *bytes, size_t n,
		     struct dlk_error *err);

	/* Count the bytes of ciphertext to be sent; append them to `to`. */
	size_t (*pending)(const struct dlki_tls *t);
	int (*take)(struct dlki_tls *t, struct dlki_bytes *to,
		    struct dlk_error *err);

	/* Append the end of the session to the ciphertext to be sent; no record
	 * of plaintext comes behind it.  Does nothing for a session that has
	 * failed, or is not up. */
	void (*goodbye)(struct dlki_tls *t);

	/* Say why a handshake has not ended yet, for people. */
	const char *(*stuck)(const struct dlki_tls *t);
};

struct dlki_tls_options { /* borrowed for the call; NULL: not given */
	enum dlki_tls_verify verify;
	const char *ca;   /* file of authorities; NULL: the system's */
	const char *cert; /* file of the client's certificate and the chain */
	const char *key;  /* file of the certificate's private key */
	const char *name; /* the server's name instead of `host` of begin() */
};

/* Read the files.  NULL: see err; ENOTSUP: this build has no TLS. */
struct dlki_tls_context *
dlki_tls_context_new(const struct dlki_tls_options *options,
		     struct dlk_error *err);

/* Free the context, after the last session.  Accepts NULL. */
void dlki_tls_context_free(struct dlki_tls_context *c);

#endif
