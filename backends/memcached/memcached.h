/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the memcached store.
 *
 * What it keeps, P being the prefix and K the claim's key:
 *   P.K      the gate: who holds a mutex, or writes, or waits to write
 *   P.K.0 …  the slots: one a reader, one a permit
 * Each item ends by itself, at most MEMC_MORE_S after the lease of its owner.
 * Who comes in adds an item, which fails if it is there; who changes or removes
 * one names the unique number (cas) that the server gave it, and so hits
 * nothing but what was looked at.
 *
 * A restarted server counts cas from 1 again: a cas is only sent on the very
 * connection that it came from, which cannot outlive the server.
 *
 * An owner's token is the cas of its add above a base that tells one run of the
 * server from the next: it rises as the server's own count does, needs no item
 * that could be lost, and no request.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_H
#define DLOCK_BACKENDS_MEMCACHED_H

#include <dlock/backend.h>
#include <stdatomic.h>

#include "core/net.h"
#include "core/pool.h"

#define MEMC_GATE (-1)
#define MEMC_READERS 64   /* part of the format: all clients must agree */
#define MEMC_PERMITS 1024 /* a semaphore's, at most */
#define MEMC_LABEL 128
#define MEMC_KEY_SIZE 160
#define MEMC_MORE_S 3 /* what an item lives longer than a lease */
#define MEMC_FLIGHT (MEMC_READERS + 1) /* operations that go out together */

enum memc_protocol { MEMC_AUTO, MEMC_TEXT, MEMC_META };

struct memc_polls;
struct memc_clock;

struct memc_session {
	struct dlk_session base;
	const char *prefix;
	enum memc_protocol protocol; /* that was asked for */
	int64_t exptime_s; /* the lease and MEMC_MORE_S */
	int64_t ask_ms;    /* what requests get beyond a caller's deadline */
	struct dlki_pool *pool;
	struct memc_polls *polls;
	struct memc_clock *clock;
};

enum memc_stake { MEMC_NOTHING, MEMC_AT_GATE, MEMC_IN_SLOT };

struct memc_ticket {
	struct dlk_ticket base;
	enum memc_stake stake; /* what we know to be ours */
	int slot;
	uint64_t cas;          /* of that item, if `connection` knows it */
	uint64_t connection;   /* the serial of the one that it came from */
	uint32_t adds;         /* that were sent */
	uint32_t add;          /* the one that made what was granted */
	int asked;
	int unclear;           /* more may be ours: a reply was lost */
	int granted;           /* and no release was asked for since */
};

/* A connection; used by one thread at a time. */
struct memc_conn {
	struct dlki_pooled pooled;
	const struct memc_session *session;
	struct dlki_net net;
	uint64_t serial;      /* never used twice in this process */
	uint64_t base;        /* of tokens that this run of the server gives */
	dlk_time grants_from; /* before, the server is too young */
	dlk_time trusted;     /* what was stored by then lives long enough */
	int meta;             /* the server speaks the meta protocol */
	size_t in_at, in_end, out_len;
	char in[16384], out[40960];
};

/* What an item says. */
struct memc_item {
	char owner[33]; /* "": we did not write this */
	char label[MEMC_LABEL + 1];
	uint64_t token;
	uint32_t add; /* the number of the one that made it; 0: it was renewed
		       * since, and says its token */
	uint32_t limit;
	uint64_t cas;
	int64_t left_s; /* -1: not known */
};

enum memc_verb {
	MEMC_ADD,  /* put the ticket's item there if there is none; look */
	MEMC_SWAP, /* put it in the place of the item with this cas; look */
	MEMC_LOOK,
	MEMC_DROP  /* remove the item with this cas */
};

enum memc_answer {
	MEMC_DONE,    /* never of a look */
	MEMC_MINE,    /* not done; the item there is the ticket's */
	MEMC_OTHER,   /* not done; another item is there */
	MEMC_MISSING  /* not done; there is none */
};

struct memc_op {
	enum memc_verb verb;
	const struct dlk_claim *claim;
	int slot;
	uint64_t cas;   /* of SWAP and DROP */
	uint64_t token; /* of SWAP: the one that the claim has */
	uint32_t add;   /* of ADD: which one of the ticket's it is */
	enum memc_answer answer;
	struct memc_item item; /* of MINE and OTHER, and of ADD and SWAP DONE */
};

/* ---- flight.c ------------------------------------------------------------ */

/*
 * Carry out up to MEMC_FLIGHT operations in their order, in one round trip.  A
 * failure leaves open which of them were; the connection is spoilt then.
 */
int dlki_memc_run(struct memc_conn *c, struct memc_op *ops, size_t n,
		  dlk_time deadline, struct dlk_error *err);

/* ---- wire.c -------------------------------------------------------------- */

/* Put text into the request; there is room.  Of formats it knows %s and PRIu64.
 * And send what was put. */
void dlki_memc_put(struct memc_conn *c, const char *fmt, ...)
	DLOCK_PRINTF(2, 3);
int dlki_memc_send(struct memc_conn *c, dlk_time deadline,
		   struct dlk_error *err);

/* The next line of the answer without its end; good until the next call. */
int dlki_memc_line(struct memc_conn *c, const char **line, dlk_time deadline,
		   struct dlk_error *err);

/* The next `size` bytes and a line end; only the first `most` of them are kept,
 * with a NUL behind. */
int dlki_memc_data(struct memc_conn *c, size_t size, char *out, size_t most,
		   dlk_time deadline, struct dlk_error *err);

/* What to make of an answer that was not expected. */
int dlki_memc_odd(const struct memc_conn *c, const char *line,
		  struct dlk_error *err);

/* ---- meta.c, text.c: the two ways to say it ------------------------------ */

struct memc_dialect {
	void (*put_look)(struct memc_conn *c, const char *key);
	void (*put_drop)(struct memc_conn *c, const char *key, uint64_t cas);
	/* MISSING or OTHER, the item's text in `text`, of MEMC_TEXT_SIZE. */
	int (*get_look)(struct memc_conn *c, struct memc_op *op, char *text,
			dlk_time deadline, struct dlk_error *err);
	int (*get_drop)(struct memc_conn *c, struct memc_op *op,
			dlk_time deadline, struct dlk_error *err);
};

extern const struct memc_dialect dlki_memc_meta, dlki_memc_text;

/* ---- item.c -------------------------------------------------------------- */

#define MEMC_TEXT_SIZE 256

void dlki_memc_key(const struct memc_session *s, const struct dlk_claim *claim,
		   int slot, char out[MEMC_KEY_SIZE]);
int dlki_memc_item_print(char out[MEMC_TEXT_SIZE],
			 const struct dlk_claim *claim, uint64_t token,
			 uint32_t add);
void dlki_memc_item_parse(struct memc_item *item, const char *text);

/* ---- conn.c -------------------------------------------------------------- */

extern const struct dlki_pool_type dlki_memc_pool_type;

/*
 * Do `work` with a connection, and once more with a new one if an idle one
 * turns out to be dead.  `work` must be fit to be done again.
 */
int dlki_memc_with(struct memc_session *s,
		   int (*work)(struct memc_conn *c, void *arg,
			       dlk_time deadline, struct dlk_error *err),
		   void *arg, dlk_time deadline, struct dlk_error *err);

/* ---- age.c --------------------------------------------------------------- */

struct memc_about {
	uint64_t time_s, uptime_s;
	long major, minor, patch;
};

/* Pure; all 0 at first. */
struct memc_age {
	uint64_t born_s;   /* which run of the server this is about */
	dlk_time from;     /* it would have counted 0 not before this */
	uint64_t uptime_s; /* the largest that was seen, and when we began the
			    * last request that was told it */
	dlk_time asked;
};

/*
 * Take in what was told, sent for at `asked` and read by `now`.  Returns until
 * when its count of seconds is near enough: what the server stored before, in
 * the same flight or in one that begins later, lives for as long as the item's
 * owner was promised.  In the past if its clock stood still.
 */
dlk_time dlki_memc_age_learn(struct memc_age *age, const struct memc_about *a,
			     dlk_time asked, dlk_time now);

/* ---- about.c ------------------------------------------------------------- */

/* What a session knows of the server's clock.  NULL: no memory. */
struct memc_clock *dlki_memc_clock_new(void);
void dlki_memc_clock_free(struct memc_clock *clock);

/* Read the answer to the `stats` that was asked for at `asked` or later, and
 * set c->trusted. */
int dlki_memc_about(struct memc_conn *c, struct memc_about *a, dlk_time asked,
		    dlk_time deadline, struct dlk_error *err);

/* ---- memcached.c --------------------------------------------------------- */

void dlki_memc_sleep_until(dlk_time until);

/* ---- claim.c ------------------------------------------------------------- */

/* How many slots a lock has, and whether it has a gate. */
int dlki_memc_slots(const struct dlk_claim *claim);
int dlki_memc_gated(const struct dlk_claim *claim);

struct memc_op dlki_memc_op(enum memc_verb verb, const struct dlk_claim *claim,
			    int slot);

/* Look at the gate, if `gate`, and at all slots.  `each` gets every operation;
 * what it returns, if not 0, ends it. */
int dlki_memc_survey(struct memc_conn *c, const struct dlk_claim *claim,
		     int gate, int (*each)(struct memc_op *op, void *arg),
		     void *arg, dlk_time deadline, struct dlk_error *err);

/* ---- polls.c ------------------------------------------------------------- */

/* NULL: no memory. */
struct memc_polls *dlki_memc_polls_new(void);
void dlki_memc_polls_free(struct memc_polls *p);

/* Was another waiter of this client for the same told "busy" just now?  Who has
 * only until `deadline` asks for the last time, and believes nobody. */
int dlki_memc_polls_busy(const struct memc_ticket *t, dlk_time deadline);

/* This one was; and: its lock has come free, tell those who wait here. */
void dlki_memc_polls_note(const struct memc_ticket *t);
void dlki_memc_polls_over(const struct memc_ticket *t);

/* ---- take.c, give.c, keep.c, look.c, names.c ----------------------------- */

enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *t, dlk_time deadline,
				   struct dlk_error *err);
int dlki_memc_release(struct dlk_ticket *t, dlk_time deadline,
		      struct dlk_error *err);
void dlki_memc_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		     enum dlk_lease verdict[], size_t n, dlk_time deadline,
		     struct dlk_error *err);
int dlki_memc_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		      void (*each)(const struct dlock_party *p, void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_memc_break(struct dlk_session *s, const struct dlk_claim *claim,
		    dlk_time deadline, struct dlk_error *err);

/* Is this item, of the ticket's owner, the one that was granted?  An `add` that
 * is late, and arrives after all was lost, makes another.  The token alone does
 * not tell: up to 1.6.23 a server that moves an item gives it another cas. */
int dlki_memc_same(const struct memc_ticket *t, const struct memc_item *item);

/* Note where an item of the ticket's is, as `op` found it. */
void dlki_memc_note(struct memc_ticket *t, const struct memc_conn *c,
		    const struct memc_op *op);

static inline struct memc_session *memc_session(struct dlk_session *s)
{
	return (struct memc_session *)(void *)s;
}

static inline struct memc_ticket *memc_ticket(struct dlk_ticket *t)
{
	return (struct memc_ticket *)(void *)t;
}

#endif
