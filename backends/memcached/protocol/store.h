/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached store as a protocol of the engine: bytes in, bytes out.
 *
 * A verb takes several requests, each of several operations on items.  A job
 * carries a verb out: the job sends a request, and goes on with `then` when all
 * of the request is answered.  There is a job for each request in flight, in
 * that order.  A job whose op is over goes no further.
 *
 * There is one link, and the server answers in order.  So a request of a claim
 * never overtakes an earlier one, unless the connection was lost in between.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_STORE_H
#define DLOCK_MEMCACHED_PROTOCOL_STORE_H

#include "backends/memcached/protocol/claim.h"
#include "backends/memcached/protocol/looks.h"
#include "backends/memcached/protocol/mark.h"
#include "backends/memcached/protocol/uri.h"
#include "core/loop/protocol.h"

extern const struct dlki_protocol dlki_memc_protocol;

/* Return from when on attempts are granted; 0: now.  With the engine's mutex
 * held. */
dlk_time dlki_memc_store_grants_from(const struct dlki_store *s);

enum { MEMC_LINE_MAX = 2048, MEMC_WITNESS_LEN = 32, MEMC_IDENTITY = 96 };

/* The engine's options: the pool of the server. */
struct memc_given {
	const char *digest;
	int with_grants; /* looked at with each grant, too */
};

struct memc_job;
struct memc_store;

typedef void memc_then(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op);

struct memc_store {
	struct dlki_store base;
	struct dlki_link *link;
	struct dlki_agreed agreed;
	struct memc_lives lives;
	struct memc_pauses pauses;
	dlk_time now; /* of the protocol's call under way */

	/* The connection. */
	struct memc_run run;
	dlk_time round_trip;    /* of the latest answer */
	STAILQ_HEAD(, memc_job) jobs; /* in flight */
	struct memc_job *greeting; /* the job of every greeting */
	struct memc_job *spare; /* the last ended job, or NULL: a release behind
				 * an acquire needs no memory */
	unsigned int asking;    /* jobs among these that ask for `stats` ... */
	dlk_time asked;         /* ... and when the last of them began */
	char line[MEMC_LINE_MAX]; /* the beginning of a line */
	size_t line_len;
	uint64_t data_left;     /* bytes of an item to come */
	int in_data;            /* ... or their line end to come */
	size_t text_len;        /* of the data in reading.text */
	struct memc_reading reading;

	/* The server, over all connections. */
	struct memc_age home_age;  /* of the run at home ... */
	struct memc_age other_age; /* ... and of the latest other run */
	uint64_t epoch;
	char identity[MEMC_IDENTITY]; /* home's, or "" */
	uint64_t home_born_s, home_pid;
	char witness[MEMC_WITNESS_LEN + 1];

	struct memc_out out; /* a request, as it is put together */
	struct memc_looks looks;
	uint64_t claims;        /* so far: a claim's number */
	int told_foreign, told_proxied;
};

/* The memory of op->claim. */
struct memc_asked {
	struct memc_claim claim;
	uint64_t number; /* of the store's claims; 0: no attempt yet */
	int released;    /* a release has begun: earlier attempts stop */
};

static inline struct memc_asked *dlki_memc_asked(const struct dlki_op *op)
{
	return op->claim;
}

/* ---- Jobs: job.c, survey.c ----------------------------------------------- */

enum { MEMC_FEW = 4, MEMC_ROUNDS = 4 };

/* A line behind the answers to all operations. */
enum memc_tail { MEMC_NO_TAIL, MEMC_TAIL_MN, MEMC_TAIL_VERSION };

/* The findings of a survey of the slots: seen.c, slot.c, several.c. */
struct memc_seen {
	int gate_taken; /* by another request */
	int gate_mine;
	uint64_t gate_cas; /* ... then */
	int mine;       /* the slot that is ours; -1: none */
	int n_mine, n_taken; /* slots: ours, all ... */
	char other[33]; /* ... another owner */
	uint32_t limit; /* of others, if not ours and not in the mark */
	uint32_t counts; /* the valid limit */
	int again;      /* the mark is wrong, or ends too soon */
	int tried;      /* how many slots, from the first on */
	int most;       /* slots to look at */
	uint32_t their_limit; /* the mark's, while the mark is corrected */
	struct memc_op own, mark;
	uint32_t got, add; /* of several: so many slots, by this add */
	int missed;        /* ... another client has a slot of these */
	unsigned char taken[MEMC_PERMITS];
};

/* The items of a claim of several permits: several.c, renew_several.c. */
struct memc_own {
	uint32_t n;
	uint32_t done; /* stored by this request, or the earlier ones */
	struct {
		int slot;
		uint64_t cas;
	} item[MEMC_PERMITS];
};

/* A finding of an inspection: inspect.c. */
struct memc_found {
	int slot;
	struct memc_item item;
};

/* The part of a request to send. */
enum memc_part {
	MEMC_WHOLE,
	MEMC_FULL,      /* the removals that met NO_ROOM, once more */
	MEMC_STATS_ONLY /* after the whole, which is answered */
};

/* The login, ahead of a greeting, if the URI has a user. */
enum memc_login {
	MEMC_NO_LOGIN,
	MEMC_LOGIN_ASKED, /* does the server want a login? */
	MEMC_LOGIN_TOLD   /* user and password */
};

struct memc_job {
	struct memc_store *store;
	STAILQ_ENTRY(memc_job) in_jobs;
	enum dlki_verb verb;
	memc_then *then;   /* all of the request is answered */
	memc_then *after;  /* ... and the survey or the wish is over */
	memc_then *swept;  /* ... and so is the sweep */
	memc_then *over;   /* several permits: the round, or the storing, is
			    * over ... */
	memc_then *again;  /* ... the round is to begin anew */
	memc_then *counted; /* the valid limit is known */

	/* The request: `stats`, the operations, the gets of the places from
	 * `from` to below `to`, and a line more. */
	int asks;          /* for `stats` */
	struct memc_op *ops;
	size_t n, room;
	int from, to;
	enum memc_part part;
	enum memc_tail tail;

	/* ... and the answers so far. */
	struct memc_stats stats;
	int got_stats;
	size_t at;
	int at_place;
	char said[16];        /* the tail, or the beginning of it */
	dlk_time since;       /* of the answered operations */
	dlk_time asked;       /* ... of the latest request */

	/* The places left in a survey.  `each` sees every get of places; also
	 * without a survey. */
	int places_end;
	void (*each)(struct memc_store *s, struct memc_job *job,
		     const struct memc_op *op);

	/* The verb's. */
	int rounds;
	int unclear;         /* the claim's, once answered */
	dlk_time lease_from; /* `since` of the request that stored the item */
	int readers;         /* a writer: there is a taken slot */
	int beside_stands;   /* an upgrade: the reader's slot is taken */
	uint64_t gate_cas;   /* ... and the item of the waiting writer */
	int has_beside;
	enum memc_login login; /* of a greeting */
	int next_place;      /* of a sweep */
	int more;            /* a sweep: an item changed meanwhile */
	uint32_t dropped;    /* ... so many of the granted items are removed */
	uint64_t last;       /* a break: an item with a larger token stays */
	uint32_t limit;      /* an inspection: the mark's; 0: no mark */
	struct memc_seen *seen;
	struct memc_own *own;
	struct memc_found *found;
	size_t n_found, found_room;

	struct dlk_error error; /* the request has failed, `code` not 0 */
	char foreign[MEMC_KEY_SIZE]; /* an item not written by dlock, or "" */

	/* From here on a new job is not zeroed. */
	struct memc_op few[MEMC_FEW];
	struct memc_op place; /* the get to be answered */
	struct memc_op beside; /* a renewal's mark or wish, if has_beside */
	struct dlk_request to_owner; /* a wish's */
	char owner[33];              /* likewise */
	char witness[MEMC_WITNESS_LEN + 1]; /* of a greeting */
};

/* Make a job for the op, NULL: for the connection.  NULL: no memory, and the op
 * has failed. */
struct memc_job *dlki_memc_job_new(struct memc_store *s, struct dlki_op *op);

/* End the job, but for a greeting's: the store keeps the memory of the last. */
void dlki_memc_job_free(struct memc_job *job);

/* Begin a request without operations.  dlki_memc_job_add(): add an operation;
 * NULL: no memory, and the op has failed and the job is freed. */
void dlki_memc_job_clear(struct memc_job *job);
struct memc_op *dlki_memc_job_add(struct memc_job *job, struct dlki_op *op,
				  struct memc_op one);

/* Does the job send the operation? */
int dlki_memc_job_sends(const struct memc_job *job, const struct memc_op *one);

/* Send the request; `op` NULL: of the connection. */
void dlki_memc_job_send(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op, memc_then *then);

/* Go on when the run is known to be there: at once, or after a request. */
void dlki_memc_job_confirm(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op, memc_then *then);

/* Get the items from place `first` to below `end`, a request after the other,
 * or of a semaphore to the end of the slots by the mark, if the survey gets the
 * mark; each() sees every get. */
void dlki_memc_job_survey(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op, int first, int end,
			  memc_then *after);

/* Let the survey of a semaphore reach all slots that may be taken by this item,
 * which a get of the survey has found. */
void dlki_memc_job_reach(struct memc_job *job, const struct memc_op *one);

/* The same for the gate and the slots, and the mark of a semaphore, when the
 * run is known to be there. */
void dlki_memc_job_survey_all(struct memc_store *s, struct memc_job *job,
			      struct dlki_op *op, memc_then *after);

/* Begin a request for the next places, from `from` on; 0: there are none. */
int dlki_memc_job_places(struct memc_job *job, int from);

/* End the op, and free the job. */
void dlki_memc_end_answered(struct memc_job *job, struct dlki_op *op,
			    int stood);
void dlki_memc_end_failed(struct memc_job *job, struct dlki_op *op,
			  const struct dlk_error *err);
void dlki_memc_end_nomem(struct memc_job *job, struct dlki_op *op);

/* End the op with EUNREACHABLE, and a message that names the server. */
void dlki_memc_end_unreachable(struct memc_store *s, struct memc_job *job,
			       struct dlki_op *op, const char *fmt);

/* Go on after all of the first job's request was answered, to `op`. */
void dlki_memc_job_answered(struct memc_store *s, struct dlki_op *op);

/* Forget all jobs. */
void dlki_memc_jobs_forget(struct memc_store *s);

/* ---- Ends: end.c --------------------------------------------------------- */

/* End the op and free the job.  The lease counts from job->lease_from; the
 * claim's item was granted. */
void dlki_memc_end_granted(struct memc_job *job, struct dlki_op *op);
void dlki_memc_end_renewed(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op);
void dlki_memc_end_busy(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op);

/* The same for an op that is answered: done; or the claim does not stand. */
void dlki_memc_end_done(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op);
void dlki_memc_end_gone(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op);

/* The lock has come free: wake the client's next waiters. */
void dlki_memc_wake(struct memc_store *s, const struct dlk_request *request);

/* Note the key of an item not written by dlock. */
void dlki_memc_job_note_foreign(struct memc_store *s, struct memc_job *job,
			    const struct memc_op *op);

/* ---- The verbs: a file for each ------------------------------------------ */

typedef void memc_submit_fn(struct memc_store *s, struct dlki_op *op);

memc_submit_fn dlki_memc_store_attempt, dlki_memc_store_renew,
	dlki_memc_store_release, dlki_memc_store_watch, dlki_memc_store_revoke,
	dlki_memc_store_break, dlki_memc_store_inspect, dlki_memc_store_resize;

/* Carry out parts of verbs: get the mark, the gate and the slots, into
 * job->seen, then call `after`; find the valid limit for an attempt, then
 * call job->counted; take a slot; take several, having got the slots;
 * renew several; remove all items of the claim, or, to break the lock, of all,
 * then call job->swept; leave a wish for `owner`. */
void dlki_memc_see(struct memc_store *s, struct memc_job *job,
		   struct dlki_op *op, memc_then *after);
void dlki_memc_count(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op);
void dlki_memc_enter_slot(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op);
void dlki_memc_enter_several(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op);
void dlki_memc_renew_several(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op);
void dlki_memc_sweep(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op);
void dlki_memc_wish(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op, const char *owner, memc_then *after);

/* ---- The pool: pool.c ---------------------------------------------------- */

/* Make sure, in the job's request, that the server is in the client's pool; the
 * op fails otherwise.  There is room for an operation.  The second function
 * takes the server's digest, and fails the request if it is another. */
void dlki_memc_job_check_pool(const struct memc_store *s, struct memc_job *job,
			      const struct dlk_request *request);
void dlki_memc_job_pool_told(const struct memc_store *s, struct memc_job *job,
			     const char *theirs);

/* ---- The connection: greet.c, input.c ------------------------------------ */

void dlki_memc_store_greet(struct memc_store *s);

/* End the greeting; or refuse an unexpected line.  0, or the reason to end the
 * connection. */
int dlki_memc_store_greeted(struct memc_store *s, struct memc_job *job,
			    struct dlk_error *err);
int dlki_memc_store_refuse(struct memc_store *s, struct dlk_error *err);

/* Take a line of a greeting's login. */
int dlki_memc_store_login(struct memc_store *s, struct memc_job *job,
			  const char *line, struct dlk_error *err);

int dlki_memc_store_input(struct memc_store *s, const char *bytes, size_t n,
			  struct dlk_error *err);

#endif
