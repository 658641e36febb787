/* SPDX-License-Identifier: Apache-2.0 */
/* The objects measured: a store, and locks in the store, dlock's and the
 * floors. */
#ifndef DLOCK_BENCH_STORE_H
#define DLOCK_BENCH_STORE_H

#include "bench/bench.h"

struct lab_process;
struct lab_server;

/* The counts of a store's server, since the start. */
struct store_load {
	double requests, replies;
	double script_us;     /* spent in scripts, or 0 */
};

struct store_desc {
	const char *name;
	int one_process;      /* the store is shared by threads only */
	int no_token;
	int64_t settle_ns;    /* a sleeping waiter may still be asking */
	/* Start a server, if the store has any, and set s->uri, to which a ttl
	 * may be added.  Leaves no connection open: the caller may fork. */
	void (*open)(struct bench_store *s);
	/* NULL if there is no server. */
	struct store_load (*load)(const struct bench_store *s);
	const char *requests, *replies; /* "packets"; NULL: not in each pair */
	const char *idle;     /* the figure for the requests of idle waiters */
	int idle_per_waiter;  /* by each in a ttl; else by all in a second */
};

extern const struct store_desc store_mem, store_file, store_null;
extern const struct store_desc store_redis, store_zk, store_memcached;
extern const struct store_desc store_rediss;     /* redis, over TLS */
void store_rediss_open(struct bench_store *s);

/* Variants. */
enum { ZK_TMPFS, ZK_DISK };              /* where the data is */
enum { MEMCACHED_META, MEMCACHED_TEXT }; /* the protocol */

struct bench_store {
	const struct store_desc *desc;
	int variant;
	char *uri;
	struct lab_server *server;  /* or NULL */
	struct lab_process *supervisor; /* of `dir`, or NULL */
	char *dir;
};

char *store_text(const char *fmt, ...) DLOCK_PRINTF(1, 2); /* to be freed */

/* For desc->open: set s->server and s->uri; skip the bench if `server` is
 * NULL. */
void store_serve(struct bench_store *s, struct lab_server *server,
		 const char *query);

dlock_client *store_client(const struct bench_store *s);

/* The load since `before`, divided by `parts`. */
struct store_load store_load_since(const struct bench_store *s,
				   struct store_load before, double parts);

/* Open the bench's store, check that locks in it work, measure each case. */
void bench_measure(void);

/* Renewals by the null: store. */
extern struct null_figures {
	_Atomic uint64_t renewals, batches;
	_Atomic int64_t latest_ns; /* the longest delay after ttl / 3 */
} null_figures;

/* ---- Locks --------------------------------------------------------------- */

/* A lock, as a thread uses it. */
struct bench_lock {
	const struct lock_ops *ops;
	const struct bench_store *store;
	int shared;           /* all but the hold belongs to another thread */
	int guest;            /* the client belongs to another lock */
	dlock_client *client; /* NULL: a floor */
	dlock_lock *lock;
	dlock_hold *hold;
	void *conn;           /* a floor's, if needed; likewise: */
	int fd;
};

/* A floor has the functions that the workload calls: `pair`, or `acquire` and
 * `release`. */
struct lock_ops {
	void (*open)(struct bench_lock *l);
	/* Not of floors: open the mutex `name` of host's client. */
	void (*open_guest)(struct bench_lock *l, const struct bench_lock *host,
			   const char *name);
	void (*close)(struct bench_lock *l);
	void (*acquire)(struct bench_lock *l);
	void (*release)(struct bench_lock *l);
	void (*pair)(void *lock);
	/* Floors only: called by the holder behind each hand-off.  May be
	 * NULL. */
	void (*beside)(struct bench_lock *l);
	/* Floors only: before and after a measurement, while no lock is open.
	 * finish() may add to the result.  May be NULL. */
	void (*prepare)(const struct bench_store *s);
	void (*finish)(const struct bench_store *s, struct bench_result *res);
};

extern const struct lock_ops lock_dlock; /* a mutex */
extern const struct lock_ops floor_fifo, floor_ofd, floor_flock;
extern const struct lock_ops floor_redis_set, floor_redis_blpop;
extern const struct lock_ops floor_redis_queue;
extern const struct lock_ops floor_dlock_redis; /* dlock's, without TLS */
extern const struct lock_ops floor_zk_node, floor_zk_recipe, floor_zk_watch;
extern const struct lock_ops floor_zk_queue;
extern const struct lock_ops floor_memcached;

struct bench_lock *bench_lock_open(const struct lock_ops *ops,
				   const struct bench_store *s);
struct bench_lock *bench_lock_share(const struct bench_lock *first);
struct bench_lock *bench_lock_guest(const struct bench_lock *host,
				    const char *name);
void bench_lock_close(struct bench_lock *l);

/* Return how many wait for a lock of dlock's, by the store's count. */
unsigned int bench_lock_waiters(struct bench_lock *l);

/* Measure from the release by `holder` to the grant to a waiter of `other`, in
 * ns.  Both are dlock's, and neither keeps the lock. */
double bench_hand_off(struct bench_lock *holder, struct bench_lock *other);

#endif
