/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

struct sim_peer {
	struct sim_redis_conn *redis; /* this or memc; the other is NULL */
	struct sim_memc_conn *memc;
};

/* A memcached has counted so long when the simulation begins. */
enum { RUN_US = 20 * 1000000 };

struct sim_model *sim_model_new(enum sim_kind kind, uint64_t seed,
				struct sim_memc_time now)
{
	struct sim_model *m = sim_alloc(sizeof(*m));
	struct sim_memc_time then = { now.up_us - RUN_US,
				      now.wall_us - RUN_US };

	if (kind == SIM_REDIS) {
		m->redis = sim_redis_new(seed);
	} else {
		m->memc = sim_memc_new(1000 + seed, then);
		sim_memc_tick(m->memc, now.up_us);
	}
	return m;
}

void sim_model_free(struct sim_model *m)
{
	if (m->redis)
		sim_redis_free(m->redis);
	else
		sim_memc_free(m->memc);
	free(m);
}

int sim_model_goes_by_wall(const struct sim_model *m)
{
	return m->redis != NULL;
}

int64_t sim_model_linger_ms(const struct sim_model *m)
{
	return m->memc ? 3000 : 0;
}

int sim_model_keeps_memory(const struct sim_model *m)
{
	return m->redis != NULL;
}

int64_t sim_model_due(const struct sim_model *m)
{
	return m->memc ? sim_memc_tick_due(m->memc) : INT64_MAX;
}

void sim_model_ring(struct sim_model *m, struct sim_memc_time now)
{
	if (m->memc)
		sim_memc_tick(m->memc, now.up_us);
}

/* ---- Connections --------------------------------------------------------- */

struct sim_peer *sim_model_connect(struct sim_model *m)
{
	struct sim_peer *p = sim_alloc(sizeof(*p));

	if (m->redis)
		p->redis = sim_redis_connect(m->redis);
	else
		p->memc = sim_memc_connect(m->memc);
	return p;
}

void sim_peer_free(struct sim_peer *p)
{
	if (p->redis)
		sim_redis_disconnect(p->redis);
	else
		sim_memc_disconnect(p->memc);
	free(p);
}

void sim_peer_input(struct sim_peer *p, const void *bytes, size_t len,
		    struct sim_memc_time now)
{
	if (p->redis)
		sim_redis_input(p->redis, bytes, len, now.wall_us);
	else
		sim_memc_input(p->memc, bytes, len);
}

struct sim_bytes *sim_peer_output(struct sim_peer *p)
{
	return p->redis ? sim_redis_output(p->redis) : sim_memc_output(p->memc);
}

int sim_peer_is_closing(const struct sim_peer *p)
{
	return p->redis ? sim_redis_is_closing(p->redis) :
			  sim_memc_is_closing(p->memc);
}

/* ---- Events -------------------------------------------------------------- */

void sim_model_restart(struct sim_model *m, int memory,
		       struct sim_memc_time now)
{
	if (m->redis)
		sim_redis_restart(m->redis, memory);
	else
		sim_memc_restart(m->memc, now);
}

void sim_model_flush(struct sim_model *m)
{
	if (m->redis)
		sim_redis_flush(m->redis);
	else
		sim_memc_flush(m->memc);
}

void sim_model_evict(struct sim_model *m, uint64_t n)
{
	if (m->redis)
		sim_redis_evict(m->redis, n);
	else
		sim_memc_evict(m->memc, n);
}

int sim_model_forget(struct sim_model *m, uint64_t n)
{
	if (m->redis)
		sim_redis_forget_scripts(m->redis);
	else
		sim_memc_move(m->memc, n);
	return m->memc != NULL;
}

void sim_model_delete(struct sim_model *m, const char *key)
{
	if (m->memc)
		sim_memc_delete(m->memc, key);
}

void sim_model_set_full(struct sim_model *m, int full)
{
	if (m->redis)
		sim_redis_set_full(m->redis, full);
	else
		sim_memc_set_room(m->memc, full ? 0 : INT64_MAX);
}

void sim_model_set_loading(struct sim_model *m, int loading)
{
	if (m->redis)
		sim_redis_set_loading(m->redis, loading);
}

void sim_model_set_replica(struct sim_model *m, int replica)
{
	if (m->redis)
		sim_redis_set_replica(m->redis, replica);
}

void sim_model_copy(struct sim_model *replica, const struct sim_model *master)
{
	if (master->redis)
		sim_redis_copy(replica->redis, master->redis);
}

/* ---- Redis: contents ----------------------------------------------------- */

/* How far tokens have come stays. */
static const char *redis_key(struct sim_redis *s, size_t n, int64_t wall_us)
{
	const char *key;

	for (size_t i = 0; (key = sim_redis_key(s, i, wall_us)); i++) {
		if (strcmp(key, "dlock:clock") != 0 && n-- == 0)
			return key;
	}
	return NULL;
}

/* "t OWNER TOKEN ..." in the lock's key; and the readers that are alive. */
static int redis_entry(struct sim_redis *s, const char *lock, int is_shared,
		       size_t n, int64_t wall_us, struct sim_entry *out)
{
	const struct sim_bytes *value;
	char key[40];

	snprintf(key, sizeof(key), "dlock:{%s}%s", lock, is_shared ? ":s" : "");
	*out = (struct sim_entry){ 0 };
	if (is_shared) {
		out->owner = sim_redis_alive(s, key, n, wall_us);
		return out->owner != NULL;
	}
	value = sim_redis_string(s, key, wall_us);
	if (n > 0 || !value || value->len <= 51 ||
	    sim_bytes_text(value)[1] != ' ')
		return 0;
	out->owner = sim_bytes_text(value) + 2;
	out->token = strtoull(out->owner + 33, NULL, 10);
	return 1;
}

/* ---- memcached: contents ------------------------------------------------- */

/* Of "dlock.RUN.LOCK", a gate, and "dlock.RUN.LOCK.5", a slot; not a mark, a
 * wish, or the witness. */
static int is_slot(const char *key)
{
	const char *at = strrchr(key, '.');

	return at && strspn(at + 1, "0123456789") == strlen(at + 1);
}

static int is_hold(const char *key)
{
	const char *at = strchr(key, '.');

	at = at ? strchr(at + 1, '.') : NULL;
	return at && (!strchr(at + 1, '.') || is_slot(key));
}

/* Return the n-th key of a hold. */
static const char *memc_key(const struct sim_memc *s, size_t n)
{
	const char *key;

	for (size_t i = 0; (key = sim_memc_key(s, i)); i++) {
		if (is_hold(key) && n-- == 0)
			return key;
	}
	return NULL;
}

/* "dlock1 OWNER TOKEN ...", of this run: clients leave the keys of other runs
 * alone. */
static int memc_entry(const struct sim_memc *s, const char *lock, int is_shared,
		      size_t n, int64_t up_us, struct sim_entry *out)
{
	char gate[40];
	const char *key;
	size_t len = (size_t)snprintf(gate, sizeof(gate),
				      "dlock.%" PRId64 ".%s",
				      sim_memc_born_s(s), lock);

	for (size_t i = 0; (key = sim_memc_key(s, i)); i++) {
		if (strncmp(key, gate, len) != 0 || !is_hold(key) ||
		    (is_shared ? key[len] != '.' : key[len] != '\0') || n-- > 0)
			continue;
		out->owner = sim_bytes_text(sim_memc_value(s, key)) + 7;
		out->token = strtoull(out->owner + 32, NULL, 10);
		out->has_expired = sim_memc_has_expired(s, key, up_us);
		return 1;
	}
	return 0;
}

const char *sim_model_key(struct sim_model *m, size_t n,
			  struct sim_memc_time now)
{
	return m->redis ? redis_key(m->redis, n, now.wall_us) :
			  memc_key(m->memc, n);
}

int sim_model_is_used(struct sim_model *m, struct sim_memc_time now)
{
	return m->redis ? sim_redis_keys(m->redis, now.wall_us) > 0 :
			  memc_key(m->memc, 0) != NULL;
}

int sim_model_entry(struct sim_model *m, const char *lock, int is_shared,
		    size_t n, struct sim_memc_time now, struct sim_entry *out)
{
	return m->redis ?
		       redis_entry(m->redis, lock, is_shared, n, now.wall_us,
				   out) :
		       memc_entry(m->memc, lock, is_shared, n, now.up_us, out);
}
