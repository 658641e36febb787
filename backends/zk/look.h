/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at a server: a connection apart from the session, for a question of a
 * few bytes.  Each call returns by `until`, and sooner when the caller's wait
 * is cancelled.  A failure is EUNREACHABLE; `why` names the server.
 */
#ifndef DLOCK_BACKENDS_ZK_LOOK_H
#define DLOCK_BACKENDS_ZK_LOOK_H

#include <dlock/backend.h>

struct zk_look {
	int fd;         /* -1: not connected */
	int refused_by; /* errno of the connect() that failed; 0 */
	int resolves;   /* see dlki_resolve() */
	char peer[120]; /* for messages: "zk.example:2181" or "[::1]:2181" */
};

#define ZK_NO_LOOK { -1, 0, 0, "" }

/* Connect to a name or an address, each address of a name for a share of the
 * time. */
int dlki_zk_look_begin(struct zk_look *l, const char *host, uint16_t port,
		       dlk_time until, struct dlk_error *why);

/* The kernel's buffer has room for the first bytes of a connection. */
int dlki_zk_look_ask(const struct zk_look *l, const void *data, size_t len,
		     struct dlk_error *why);

/* Wait for at least one byte; *got says how many came, `size` at most. */
int dlki_zk_look_hear(const struct zk_look *l, void *data, size_t size,
		      size_t *got, dlk_time until, struct dlk_error *why);

/* Is the connection open, and has no data to read? */
int dlki_zk_look_is_quiet(const struct zk_look *l);

/* Idempotent. */
void dlki_zk_look_end(struct zk_look *l);

#endif
