/* SPDX-License-Identifier: Apache-2.0 */
/* The way of bytes in one direction of a connection, in virtual time. */
#ifndef DLOCK_SIM_PROCESS_WAY_H
#define DLOCK_SIM_PROCESS_WAY_H

#include <stdint.h>

#include "sim/base/bytes.h"

/* Bytes that arrive together. */
struct sim_packet {
	struct sim_packet *next;
	struct sim_bytes bytes;
	int64_t from, at;
};

struct sim_way {
	struct sim_packet *first, **last;
	int64_t at; /* of the last packet, or the end of a clog */
};

void sim_way_begin(struct sim_way *w);

/* The packets under way are lost. */
void sim_way_end(struct sim_way *w);

/* The bytes arrive at `at`, or later: not before any other packet, nor before
 * the end of a clog. */
void sim_way_put(struct sim_way *w, const void *bytes, size_t len, int64_t at);

/* All packets arrive at `at` at the latest, and the clog ends. */
void sim_way_hurry(struct sim_way *w, int64_t at);

/* When the first packet arrives. */
int64_t sim_way_due(const struct sim_way *w);

/* Take the first packet out; free it with sim_packet_free(). */
struct sim_packet *sim_way_take(struct sim_way *w);
void sim_packet_free(struct sim_packet *p);

#endif
