/* SPDX-License-Identifier: Apache-2.0 */
/* The faults of a model server, and of the ways there. */
#ifndef DLOCK_SIM_PROCESS_MODEL_WEATHER_H
#define DLOCK_SIM_PROCESS_MODEL_WEATHER_H

#include "sim/process/member.h"
#include "sim/process/server.h"
#include "sim/process/terms.h"

/* A rate is 1 in so many packets of clients; 0: never. */
struct sim_model_weather {
	enum sim_kind kind;
	int first_port;    /* of SIM_MODEL_PORTS, or of the members */
	size_t members;    /* 1: a single server */
	unsigned int sick; /* a bit for each server of a fleet with faults */
	uint64_t slow_us[SIM_MEMBERS]; /* bytes of the server take longer */
	struct sim_wires wires;
	uint64_t pause_rate, pause_us;
	uint64_t restart_rate; /* with all keys */
	uint64_t blank_rate;   /* ... or without */
	uint64_t flush_rate, evict_rate;
	uint64_t forget_rate; /* of scripts; or an item is moved */
	uint64_t late_rate;   /* 1 in so many seconds of memcached's timer */
	uint64_t down_us;     /* behind a restart: connections are refused, and
				* then the server loads */
	uint64_t clog_rate;   /* a connection, or a client, does not hear or is
				* not heard */
	uint64_t clog_us;     /* at most */
	int apart;            /* the connections of a client are clogged each by
			       * itself */
	int64_t ttl_ms;
	int64_t late_ms;   /* of answers to a client that is cut off, at most */
	int64_t young_ms;  /* a started server may grant nothing for so long */
	int64_t linger_ms; /* by which a claim may outlive the lease */
};

enum { SIM_MODEL_PORTS = 3 };

/* Draw a weather; tell the terms. */
void sim_redis_weather_draw(struct sim_model_weather *w, struct sim_terms *t,
			    struct sim_chance *chance);
void sim_memcached_weather_draw(struct sim_model_weather *w,
				struct sim_terms *t, struct sim_chance *chance);
void sim_fleet_weather_draw(struct sim_model_weather *w, struct sim_terms *t,
			    struct sim_chance *chance);

#endif
