/* SPDX-License-Identifier: Apache-2.0 */
/* A model server of either kind, on the machine's clocks. */
#ifndef DLOCK_SIM_MODEL_H
#define DLOCK_SIM_MODEL_H

#include "sim/memcached/server.h"
#include "sim/redis/server.h"

enum sim_kind { SIM_REDIS, SIM_MEMCACHED };

struct sim_model {
	struct sim_redis *redis; /* this or memc; the other is NULL */
	struct sim_memc *memc;
};

struct sim_peer; /* the server's end of a connection */

/* Make a server that has run for a while at `now`. */
struct sim_model *sim_model_new(enum sim_kind kind, uint64_t seed,
				struct sim_memc_time now);
void sim_model_free(struct sim_model *m);

/* Whether keys end by the time since 1970, so that a step of that clock ends
 * leases early or late. */
int sim_model_goes_by_wall(const struct sim_model *m);

/* By how long claims outlive the lease, at most. */
int64_t sim_model_linger_ms(const struct sim_model *m);

/* A restart may keep all keys. */
int sim_model_keeps_memory(const struct sim_model *m);

/* When the server's own timer is to ring, in the machine's up_us; INT64_MAX:
 * never.  sim_model_ring() lets the timer ring, in time or late. */
int64_t sim_model_due(const struct sim_model *m);
void sim_model_ring(struct sim_model *m, struct sim_memc_time now);

/* ---- Connections --------------------------------------------------------- */

struct sim_peer *sim_model_connect(struct sim_model *m);
void sim_peer_free(struct sim_peer *p);
void sim_peer_input(struct sim_peer *p, const void *bytes, size_t len,
		    struct sim_memc_time now);
struct sim_bytes *sim_peer_output(struct sim_peer *p);
int sim_peer_is_closing(const struct sim_peer *p);

/* ---- Events -------------------------------------------------------------- */

/* See the models; forget: no loss of claims, as of scripts. */
void sim_model_restart(struct sim_model *m, int memory,
		       struct sim_memc_time now);
void sim_model_flush(struct sim_model *m);
void sim_model_evict(struct sim_model *m, uint64_t n);
int sim_model_forget(struct sim_model *m, uint64_t n);

/* Of memcached: a client deletes a key. */
void sim_model_delete(struct sim_model *m, const char *key);
void sim_model_set_full(struct sim_model *m, int full);

/* Of Redis. */
void sim_model_set_loading(struct sim_model *m, int loading);
void sim_model_set_replica(struct sim_model *m, int replica);
void sim_model_copy(struct sim_model *replica, const struct sim_model *master);

/* ---- Contents ------------------------------------------------------------ */

/* Return the n-th key that keeps a client out, or makes work for one.  NULL: no
 * such key.  Borrowed until the next call. */
const char *sim_model_key(struct sim_model *m, size_t n,
			  struct sim_memc_time now);

/* Whether a client has left more than a greeting does. */
int sim_model_is_used(struct sim_model *m, struct sim_memc_time now);

/* An entry of a lock. */
struct sim_entry {
	const char *owner; /* 32 digits, and more; borrowed until the next
			    * call */
	uint64_t token;    /* 0: the entry does not say */
	int has_expired;   /* by the machine's clock the entry has ended: the
			    * server's timer is late */
};

/* Get the n-th shared entry, or exclusive one, of `lock`, a key of a request.
 * 0: no such entry. */
int sim_model_entry(struct sim_model *m, const char *lock, int is_shared,
		    size_t n, struct sim_memc_time now, struct sim_entry *out);

#endif
