/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model memcached: a server of which dlock sees what it would see of
 * memcached 1.6.18.  Bytes of a client go in, bytes for the client come out;
 * there is no socket, no clock, no thread and no chance in it.
 *
 * As in memcached, a timer advances the server's count of seconds, and requests
 * go by that count.  sim_memc_tick() is the timer.  A server that was stopped
 * reads the connections before the timer rings: the count is then from before
 * the stop.
 *
 * The model has the commands that dlock sends, and get, set, delete and
 * flush_all: no "noreply", no login, no size classes of memory (see
 * sim_memc_set_room()), and no eviction by age (see sim_memc_evict()).
 */
#ifndef DLOCK_SIM_MEMCACHED_SERVER_H
#define DLOCK_SIM_MEMCACHED_SERVER_H

#include <stdint.h>

#include "sim/base/bytes.h"

struct sim_memc;
struct sim_memc_conn;

/* The machine's clocks, in microseconds: since the machine started, without
 * sleep; and since 1970. */
struct sim_memc_time {
	int64_t up_us, wall_us;
};

/* `pid`: of the first run; each restart adds 1. */
struct sim_memc *sim_memc_new(uint64_t pid, struct sim_memc_time now);
void sim_memc_free(struct sim_memc *s);

/* ---- Time ---------------------------------------------------------------- */

/* When the timer is to ring, in up_us; and let the timer ring, in time or
 * late. */
int64_t sim_memc_tick_due(const struct sim_memc *s);
void sim_memc_tick(struct sim_memc *s, int64_t up_us);

/* ---- Connections --------------------------------------------------------- */

struct sim_memc_conn *sim_memc_connect(struct sim_memc *s);

/* Free the connection, whichever side ended it. */
void sim_memc_disconnect(struct sim_memc_conn *c);

/* Take bytes from the client.  Complete requests are carried out, and the
 * replies are appended to the connection's output. */
void sim_memc_input(struct sim_memc_conn *c, const void *bytes, size_t len);

/* Return the bytes for the client; the network takes them out. */
struct sim_bytes *sim_memc_output(struct sim_memc_conn *c);

/* Whether the server closes the connection after the output: a restart. */
int sim_memc_is_closing(const struct sim_memc_conn *c);

/* ---- Events -------------------------------------------------------------- */

/* The server stops and starts: the connections are closing, unsent replies and
 * all items are gone, and the numbers of items begin with 1 again. */
void sim_memc_restart(struct sim_memc *s, struct sim_memc_time now);

/* flush_all, by another client. */
void sim_memc_flush(struct sim_memc *s);

/* The n-th item, oldest first and modulo the count of items, is evicted; or is
 * moved in memory, and gets another number. */
void sim_memc_evict(struct sim_memc *s, uint64_t n);
void sim_memc_move(struct sim_memc *s, uint64_t n);

/* A key is deleted, by another client. */
void sim_memc_delete(struct sim_memc *s, const char *key);

/* Give the server memory for so many more items, all of one size; it evicts no
 * items (-M).  To store an item, also in the place of another, the server needs
 * memory for an item; a removed item gives memory back.  INT64_MAX, as preset:
 * for any number. */
void sim_memc_set_room(struct sim_memc *s, int64_t items);

/* ---- Contents ------------------------------------------------------------ */

/* When this run began, in seconds since 1970, as "stats" tells it. */
int64_t sim_memc_born_s(const struct sim_memc *s);

/* Return the n-th live item, the oldest first.  NULL: no such item.  Borrowed
 * until the next call. */
const char *sim_memc_key(const struct sim_memc *s, size_t n);

/* Return an item's value.  NULL: no such item, or it has expired.  Borrowed
 * until the next call. */
const struct sim_bytes *sim_memc_value(const struct sim_memc *s,
				       const char *key);

/* Has a live item ended by the machine's clock?  Then the timer is late. */
int sim_memc_has_expired(const struct sim_memc *s, const char *key,
			int64_t up_us);

#endif
