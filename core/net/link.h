/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link: a way to a server, over which connections come and go.
 *
 * The link knows the bytes: an output buffer, the requests in flight with their
 * places in the stream, and how many bytes the kernel took.  The engine decides
 * when to connect, read, write and close.
 *
 * With TLS, places and counts are of the plaintext.  All of a record counts as
 * written as soon as the kernel has taken a byte of the record's ciphertext.
 * Ciphertext that has come is decrypted and handed on at once.
 *
 * LOCKS
 *  All of it is under the engine's mutex, which dlki_link_write(),
 *  dlki_link_read() and dlki_link_await() release for the system call.
 *  `writing` and `reading` say that a thread is there; the link is not closed
 *  meanwhile.  The writer alone uses `going` and `sealed`.
 */
#ifndef DLOCK_CORE_NET_LINK_H
#define DLOCK_CORE_NET_LINK_H

#include <pthread.h>

#include "core/base/heap.h"
#include "core/base/backoff.h"
#include "core/net/bytes.h"
#include "core/net/endpoint.h"
#include "core/net/flight.h"
#include "core/net/tls.h"
#include "core/world/world.h"

struct dlki_engine;

enum dlki_link_state {
	DLKI_LINK_DOWN,
	DLKI_LINK_CONNECTING,
	DLKI_LINK_SECURING, /* the handshake of TLS is under way */
	DLKI_LINK_GREETING,
	DLKI_LINK_UP
};

struct dlki_link {
	struct dlki_world *world;
	enum dlki_set set;
	struct dlki_tag tag; /* the generation counts connections */

	enum dlki_link_state state;
	int sock;            /* -1: DOWN */
	int writing, reading; /* a thread is in the world's call */
	int readable;        /* bytes or the end may be there */
	int ended;           /* ... and the end is: read up to the end */
	int slow;            /* await() was in vain, and no byte came since */
	int blocked;         /* the kernel took no more: WRITABLE will come */
	int cut;             /* to be closed, for the reason `why` */
	struct dlk_error why; /* the reason of the last loss, for messages */

	struct dlki_bytes out;   /* appended, not yet taken by a writer */
	struct dlki_bytes going; /* the writer's */
	uint64_t appended;       /* bytes of this connection so far ... */
	uint64_t written;        /* ... and of these the kernel took */
	struct dlki_flight flight;

	struct dlki_tls *tls;     /* of this connection; NULL: without TLS */
	struct dlki_bytes sealed; /* ciphertext, as of a record */
	uint64_t sealed_to;       /* ... and the place behind the record */

	/* The engine's: core/loop/links.c. */
	struct dlki_engine *engine;
	int wanted;              /* connect, and connect again */
	struct dlki_met met;     /* by the connection: core/loop/server.c */
	dlk_time began;          /* of the connect() */
	dlk_time took;           /* ... until UP */
	dlk_time greets_at;      /* the greeting began */
	dlk_time way;            /* ... and took so long: a round trip */
	dlk_time heard;          /* when bytes came last */
	int hung_up;             /* the server has closed the connection */
	int probed;              /* the last request is a PING */
	dlk_time doubted;        /* the write of a request without an answer by
				  * the deadline; 0: none */
	dlk_time blocked_at;
	dlk_time retry_at;       /* DOWN */
	struct dlki_backoff backoff;
	struct dlki_alarm alarm;
};

void dlki_link_init(struct dlki_link *l, struct dlki_world *world,
		    enum dlki_set set, uint32_t place);

/* Free the memory of a link that is DOWN. */
void dlki_link_free(struct dlki_link *l);

/* Begin to connect, DOWN -> CONNECTING; or a negative errno value, and the link
 * stays DOWN. */
int dlki_link_connect(struct dlki_link *l, const struct dlki_address *to);

/* Finish, CONNECTING -> GREETING: 0; -EINPROGRESS; or the reason why there is
 * no connection. */
int dlki_link_finish(struct dlki_link *l);

/* Begin the handshake, GREETING -> SECURING, before any request.
 * dlki_link_read() goes back to GREETING when the handshake is done.  A failure
 * cuts the link.  `host` and `peer` as in core/net/tls.h. */
void dlki_link_secure(struct dlki_link *l, struct dlki_tls_context *tls,
		      const char *host, const char *peer);

/* Append a request.  `op` may be NULL.  Returns the serial of the slot; or -1:
 * no memory, and no byte is appended. */
int64_t dlki_link_append(struct dlki_link *l, int verb, struct dlki_op *op,
			 const void *bytes, size_t len);

static inline int dlki_link_has_output(const struct dlki_link *l)
{
	return l->written < l->appended ||
	       (l->tls && (dlki_bytes_len(&l->sealed) > 0 ||
			   l->tls->type->pending(l->tls) > 0));
}

/* Are there bytes to write, and no writer, and does the kernel take more? */
static inline int dlki_link_can_write(const struct dlki_link *l)
{
	return l->state >= DLKI_LINK_SECURING && !l->cut && !l->writing &&
	       !l->blocked && dlki_link_has_output(l);
}

/* Write all bytes of a link that can write, also those appended meanwhile,
 * until the kernel takes no more.  A failure cuts the link.  `mu` is released
 * meanwhile. */
void dlki_link_write(struct dlki_link *l, pthread_mutex_t *mu);


/* Most bytes of a link in a turn. */
enum { DLKI_INPUT = 64 * 1024 };

/*
 * Read once, at most *left bytes, which are taken off *left.  Returns how many
 * bytes came to `out`, which has room for DLKI_INPUT.  0: no byte came; while
 * `readable` is 0, the next bytes come with an event.  `mu` is released
 * meanwhile, unless it is NULL.
 */
size_t dlki_link_read(struct dlki_link *l, pthread_mutex_t *mu, char *out,
		      size_t *left);

/* Read by await() of the world: DLKI_INPUT bytes at most. */
size_t dlki_link_await(struct dlki_link *l, pthread_mutex_t *mu, char *out);

/* Is there a request without an answer, nothing to be read or written, and no
 * sign that the answer takes long? */
int dlki_link_can_await(const struct dlki_link *l);

/* Have the link closed; the first reason counts. */
void dlki_link_cut(struct dlki_link *l, int code, const char *why);

/*
 * Doubt the connection of an op at the op's deadline; the request was written
 * at `since`, 0: never.  The connection becomes doubtful if the server has been
 * silent since then, though there was time to connect twice.  When all bytes
 * present were read, the second function cuts a doubtful connection.
 */
void dlki_link_doubt(struct dlki_link *l, dlk_time since, dlk_time now);
void dlki_link_cut_silent(struct dlki_link *l);

/* Was the request of this slot sent, at least in part? */
int dlki_link_was_sent(const struct dlki_link *l, const struct dlki_slot *s);

/*
 * Close, -> DOWN: close the socket, raise the generation and clear the flight,
 * which the engine has looked through.  No thread reads or writes.  Over TLS
 * the server hears of the end, if the kernel takes the bytes at once.
 */
void dlki_link_close(struct dlki_link *l);

#endif
