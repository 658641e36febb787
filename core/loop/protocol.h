/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A protocol: a store as the engine sees it, bytes in and bytes out.
 *
 * RULES
 *  1. A protocol asks no clock, kernel, thread or chance.  Every call brings
 *     `now`, the same throughout a turn of the loop.
 *  2. All calls come with the engine's mutex held, never two at a time.
 *  3. A protocol may call the services below, from any of its functions.  They
 *     append and queue, and call no function of the protocol.
 *  4. Any order of input(), submit() and timer() is legal.  A timer() that
 *     comes early, late or twice is harmless.
 *  5. A protocol never sends a request twice.  A request certainly not carried
 *     out ends with dlki_again(); only the claim asks anew.
 *  6. An op of several requests has a single request in flight at a time.  The
 *     protocol frees the memory for such an op when the next answer finds the
 *     op over, in lost() and in close().
 */
#ifndef DLOCK_CORE_LOOP_PROTOCOL_H
#define DLOCK_CORE_LOOP_PROTOCOL_H

#include "core/loop/op.h"
#include "core/world/world.h"

struct dlki_engine;
struct dlki_link;

/* Agreed between store and client; see dlk_session in dlock/backend.h. */
struct dlki_agreed {
	int64_t lease_ms;  /* 0: claims do not expire */
	int64_t margin_ms;
	int64_t linger_ms;
	int64_t check_ms;
	uint32_t caps;     /* DLOCK_CAP_ */
};

/* The first member of a protocol's own memory, which the engine allocates,
 * zeroes and frees. */
struct dlki_store {
	struct dlki_engine *engine;
	const struct dlki_protocol *protocol;
	const struct dlk_uri *uri;
	const char *label;        /* the client's, for people */
	const void *given;        /* for this protocol, by the options */
	unsigned char chance[32]; /* random bytes, for the life of the store */
	dlk_time due;             /* out: when to call timer(); DLK_FOREVER, as
				   * preset: never.  The engine reads it after
				   * each call of the protocol */
};

struct dlki_protocol {
	const char *name;
	size_t size; /* of a struct that begins with struct dlki_store */
	size_t claim_size; /* of the memory behind op->claim */
	const char *told_by; /* the command for a server's identity, for
			      * messages: "INFO" */
	const char *unheard; /* a hint for messages why a server closes a
			      * connection without an answer to the greeting; or
			      * NULL */

	/* Read the URI and open links, the main link first.  No I/O.  0, or
	 * the code of dlk_fail(); close() comes in any case. */
	int (*open)(struct dlki_store *s, struct dlk_error *err);

	/* The link is connected: send the first requests of a connection, as
	 * DLKI_GREET.  dlki_up() ends the greeting. */
	void (*greet)(struct dlki_store *s, struct dlki_link *l, dlk_time now);

	/* Send `n` ops of the same verb, or end them at once.  The main link
	 * is up.  Ops come in the order of their submission. */
	void (*submit)(struct dlki_store *s, enum dlki_verb verb,
		       struct dlki_op *const ops[], size_t n, dlk_time now);

	/* Bytes came; all of them are the protocol's to keep.  0, or a code of
	 * dlk_fail() if they make no sense: the link is cut, and ops in flight
	 * end UNANSWERED. */
	int (*input)(struct dlki_store *s, struct dlki_link *l,
		     const char *bytes, size_t n, dlk_time now,
		     struct dlk_error *err);

	/* The connection is gone: forget half an answer.  The engine looks
	 * after the ops. */
	void (*lost)(struct dlki_store *s, struct dlki_link *l, dlk_time now);

	/* An op ended without an answer, by the deadline or by the claim, and
	 * the last request is no PING: may send a PING, which shows that the
	 * answer is missing, if the answer never comes.  Leaves `due` alone.
	 * NULL: the store's answers name the request. */
	void (*late)(struct dlki_store *s, struct dlki_link *l, dlk_time now);

	/* `due` has come.  NULL: `due` is never set. */
	void (*timer)(struct dlki_store *s, dlk_time now);

	/* Free all memory from open() and later calls. */
	void (*close)(struct dlki_store *s);
};

/* ---- Services: links ----------------------------------------------------- */

/* A link to the store's server, valid until close().  Its answers and messages
 * come in `set`.  The first link is the main link.  NULL: no memory, or too
 * many (DLKI_LINKS). */
#define DLKI_LINKS 4
struct dlki_link *dlki_link_open(struct dlki_store *s, enum dlki_set set);

/* Connect the link, now and after each loss.  The engine does so for the main
 * link by itself. */
void dlki_want(struct dlki_link *l);

/* Whether the link is connected and greeted. */
int dlki_is_up(const struct dlki_link *l);

/* Has the link requests that the kernel has not taken yet?  The next request
 * goes with them. */
int dlki_has_output(const struct dlki_link *l);

/* The server, for messages: "redis.example:6379"; with the address, where the
 * name has several. */
enum { DLKI_PEER = 168 };
void dlki_peer(const struct dlki_link *l, char out[DLKI_PEER]);

/* Fail with a message that names the server: the format's only %s.  Returns the
 * code. */
int dlki_peer_fail(const struct dlki_link *l, struct dlk_error *err, int code,
		   const char *fmt);

/* The server tells an identity, in a greeting, before dlki_up(): see
 * core/net/endpoint.h. */
void dlki_identity(struct dlki_link *l, const char *identity);

/* Does the connection lead to the address at which home was last? */
int dlki_is_at_home(const struct dlki_link *l);

/* The server has accepted the greeting.  The link is up then, or is cut if the
 * server is not, or not yet, the client's: see dlki_is_up(). */
void dlki_up(struct dlki_link *l);

/* The server answers, but is of no more use, as a former primary, now a
 * replica: the next connection goes where the name leads now. */
void dlki_demoted(struct dlki_link *l);

/*
 * The server refuses us in a greeting, as with a wrong password: the link is
 * cut.  On the main link, ops in the queue since before the link began to
 * connect fail with `err`; later ops wait for the next connection.  If the main
 * link was never up, no link is connected again, and all ops fail.
 */
void dlki_refused(struct dlki_link *l, const struct dlk_error *err);

/* Agree; in a greeting, before dlki_up(). */
void dlki_agree(struct dlki_store *s, const struct dlki_agreed *agreed);

/*
 * Append a request of the op to the link's output, and to the requests in
 * flight.  `op` is NULL for DLKI_GREET and DLKI_PING, or if the op has ended.
 * The bytes are copied.  Without memory the link is cut, and no byte of the
 * request is sent.
 *
 * An op of the earliest request, which is answered, may be sent anew before
 * dlki_pop(): with the op's next request.
 */
void dlki_send(struct dlki_link *l, enum dlki_verb verb, struct dlki_op *op,
	       const void *bytes, size_t len);

/* The earliest request without an answer.  0: no request is in flight, or no
 * byte of the request was written and it is no greeting, so an answer is
 * nonsense.  dlki_front_op() returns the request's op, or NULL if the op has
 * ended meanwhile, as by its deadline; completions accept NULL. */
struct dlki_front {
	enum dlki_verb verb;
	dlk_time since; /* read before the write of the first byte */
	dlk_time began; /* when the link began to connect */
};
int dlki_front(const struct dlki_link *l, struct dlki_front *out);
struct dlki_op *dlki_front_op(const struct dlki_link *l);

/* The earliest request is answered.  An op that no completion has ended, and
 * that was not sent anew, ends UNANSWERED. */
void dlki_pop(struct dlki_link *l);

/* In submit(): hold the op, which cannot be sent yet, until dlki_resume(); then
 * every held op is queued again, in order and ahead of all others.  A deadline
 * and dlki_cancel() end a held op UNSENT.
 *
 * Also an op of the earliest request, which is answered, before dlki_pop(): the
 * op begins anew in submit().  The op has been sent before, and so ends
 * UNANSWERED by a deadline, by dlki_cancel() and by the loss of the main
 * link. */
void dlki_hold(struct dlki_op *op);
void dlki_resume(struct dlki_store *s);

/* ---- Services: completions ----------------------------------------------- */

/* Each ends the op, and accepts NULL.  The engine knows `since`; for an answer
 * at once, in submit(), it is the time of the turn. */

void dlki_granted(struct dlki_op *op, uint64_t token);

/* op->lease_ms may be set lower before dlki_granted() and dlki_answered(). */
void dlki_answered(struct dlki_op *op, int stood);

/* WATCH, and the claim stood. */
void dlki_watched(struct dlki_op *op, int wanted, uint64_t token_last);

/* `store_clock_us` is the store's clock as it evaluated the request, or 0. */
void dlki_busy(struct dlki_op *op, int64_t look_in_ms,
	       uint64_t store_clock_us);

/* Before dlki_busy(): `err` names an obstacle that does not go by itself.
 * `err` is copied; without memory it is lost. */
void dlki_in_the_way(struct dlki_op *op, const struct dlk_error *err);

void dlki_again(struct dlki_op *op);

/* `err` is copied. */
void dlki_failed(struct dlki_op *op, const struct dlk_error *err,
		 enum dlki_residue residue);

/* The answer makes no sense, and may be no answer: the bytes may be older than
 * the request.  The op ends UNANSWERED; the protocol ends the connection.
 * `err` is copied. */
void dlki_senseless(struct dlki_op *op, const struct dlk_error *err);

/* Report a row of INSPECT or LIST; NULL and an op that is over are accepted. */
void dlki_row_participant(const struct dlki_op *op,
			  const struct dlock_participant *p);
void dlki_row_lock(const struct dlki_op *op,
		   const struct dlock_lock_info *info);

/* ---- Services: news ------------------------------------------------------ */

/*
 * The store has granted the claim with `id` as the last attempt.  With the
 * store's clock of the grant, and of the attempt's BUSY, the lease counts from
 * when the attempt was written plus the time between the two clocks.
 * `store_clock_us` 0: the lease counts from when the attempt was written.
 */
void dlki_pushed(struct dlki_store *s, uint64_t id, uint64_t token,
		 uint64_t store_clock_us, int64_t lease_ms);

/* Another client asks for the watched claim of this owner. */
void dlki_wanted(struct dlki_store *s, const char *owner);

/* News may have been missed: every parked claim asks again, and every watched
 * claim may be wanted.  dlki_wake(): the claim of the attempt asks again. */
void dlki_look_again(struct dlki_store *s);
void dlki_wake(struct dlki_store *s, uint64_t id);

/* The answer to an ended op has come; `since` as of dlki_front(). */
void dlki_answered_late(struct dlki_store *s, dlk_time since);

/* For the client's log, as a warning.  The text is copied, and holds no
 * secret. */
void dlki_warn(struct dlki_store *s, const char *text);

#endif
