/* SPDX-License-Identifier: Apache-2.0 */
/* A model server of a scene, with the server's own times. */
#ifndef DLOCK_SIM_PROCESS_MEMBER_H
#define DLOCK_SIM_PROCESS_MEMBER_H

#include "sim/base/chance.h"
#include "sim/world/model.h"

struct sim_member {
	struct sim_model *model; /* NULL: no server */
	int64_t stopped_until;   /* a server of a fleet */
	int64_t rested_at;       /* the server, from the last pause */
	int64_t grown_at;        /* ... from the last restart without memory */
	int64_t cut_until;       /* the server hears no client */
	int64_t down_until;      /* behind a restart: connections are refused */
	int64_t loading_until;   /* ... and then the server loads */
	int64_t tick_at;         /* memcached's timer; SIM_FOREVER: no timer */
};

/* Return the server's clocks. */
struct sim_memc_time sim_member_now(void);

void sim_member_begin(struct sim_member *m, enum sim_kind kind);
void sim_member_end(struct sim_member *m);

/* Begin no fault of a time from now on, and end all such faults. */
void sim_member_heal(struct sim_member *m);

/* Restart with all keys, or without, and be down for up to `down_us`. */
void sim_member_restart(struct sim_member *m, struct sim_chance *chance,
			int memory, uint64_t down_us);

/* When is a time of the server due?  Then ring; memcached's timer is late once
 * in `late_rate` times, 0: never. */
int64_t sim_member_due(const struct sim_member *m);
void sim_member_ring(struct sim_member *m, struct sim_chance *chance,
		     uint64_t late_rate);

#endif
