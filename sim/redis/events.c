/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a server, and the contents. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/redis/lua.h"
#include "sim/redis/server.h"
#include "sim/redis/state.h"

static void name_run(struct sim_redis *s)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, s->seed,
		 s->starts++);
	rm_scripts_sha1((struct rm_text){ text, strlen(text) }, s->run_id);
}

void sim_redis_restart(struct sim_redis *s, int memory)
{
	for (struct sim_redis_conn *c = s->conns; c; c = c->next) {
		c->is_closing = 1;
		sim_bytes_free(&c->out);
	}
	if (!memory)
		sim_redis_flush(s);
	sim_redis_forget_scripts(s);
	s->is_replica = 0;
	s->is_loading = 0;
	name_run(s);
}

void sim_redis_flush(struct sim_redis *s)
{
	for (size_t i = 0; i < RM_DBS; i++)
		rm_db_clear(&s->dbs[i]);
}

void sim_redis_evict(struct sim_redis *s, uint64_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < RM_DBS; i++)
		all += s->dbs[i].keys.n;
	if (all == 0)
		return;
	n %= all;
	for (size_t i = 0; i < RM_DBS; i++) {
		struct rm_map *keys = &s->dbs[i].keys;

		if (n < keys->n) {
			rm_db_remove(&s->dbs[i], keys->entries[n].key,
				     INT64_MIN);
			return;
		}
		n -= keys->n;
	}
}

void sim_redis_forget_scripts(struct sim_redis *s)
{
	rm_map_clear(&s->scripts, NULL);
}

void sim_redis_copy(struct sim_redis *replica, const struct sim_redis *master)
{
	for (size_t i = 0; i < RM_DBS; i++)
		rm_db_copy(&replica->dbs[i], &master->dbs[i]);
}

void sim_redis_set_replica(struct sim_redis *s, int replica)
{
	s->is_replica = replica;
}

void sim_redis_set_full(struct sim_redis *s, int full)
{
	s->is_full = full;
}

void sim_redis_set_loading(struct sim_redis *s, int loading)
{
	s->is_loading = loading;
}

/* ---- Contents ------------------------------------------------------------ */

size_t sim_redis_keys(struct sim_redis *s, int64_t now_us)
{
	size_t n = 0;

	for (size_t i = 0; i < RM_DBS; i++) {
		rm_db_expire(&s->dbs[i], now_us / 1000);
		n += s->dbs[i].keys.n;
	}
	return n;
}

const char *sim_redis_key(struct sim_redis *s, size_t n, int64_t now_us)
{
	const struct rm_map *keys = &s->dbs[0].keys;

	rm_db_expire(&s->dbs[0], now_us / 1000);
	return n < keys->n ? keys->entries[n].key.s : NULL;
}

const char *sim_redis_alive(struct sim_redis *s, const char *key, size_t n,
			    int64_t now_us)
{
	struct rm_text text = { key, strlen(key) };
	const struct rm_value *v = rm_db_find(&s->dbs[0], text, now_us / 1000);
	const int64_t now_ms = now_us / 1000;
	const struct rm_zset *z = v && v->type == RM_ZSET ? &v->zset : NULL;

	for (size_t i = 0; z && i < rm_zset_n(z); i++) {
		const struct rm_member *m = z->ordered[i];

		if (m->score > (double)now_ms && n-- == 0)
			return m->text.s;
	}
	return NULL;
}

const struct sim_bytes *sim_redis_string(struct sim_redis *s, const char *key,
					 int64_t now_us)
{
	struct rm_text text = { key, strlen(key) };
	const struct rm_value *v = rm_db_find(&s->dbs[0], text, now_us / 1000);

	return v && v->type == RM_STRING ? &v->string : NULL;
}
