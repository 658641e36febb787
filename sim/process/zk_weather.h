/* SPDX-License-Identifier: Apache-2.0 */
/* The faults of a model ZooKeeper, and how many servers there are. */
#ifndef DLOCK_SIM_PROCESS_ZK_WEATHER_H
#define DLOCK_SIM_PROCESS_ZK_WEATHER_H

#include "sim/base/chance.h"

struct sim_zk_weather {
	int followers;       /* of a leader; 0: a single server */
	int apart;           /* each client knows a single server */
	uint64_t delay_us;   /* of bytes, at most ... */
	uint64_t least_us;   /* ... and so much more */
	uint64_t reset_rate; /* a connection ends with 1 of so many packets */
	uint64_t pause_rate; /* the server pauses, likewise; 0: never */
	uint64_t pause_us;
	uint64_t restart_rate; /* ... or restarts, with all nodes */
	uint64_t hold_rate;    /* a follower and the leader are held up */
	int in_turn;           /* ... first down, then up */
	uint64_t hold_us;      /* at most */
	uint64_t report_rate;  /* a follower is held up, likewise, before the
				* leader hears of a session */
	uint64_t elect_rate;   /* another leader is elected */
	uint64_t elect_us;     /* ... which takes so long at most */
	uint64_t alone_us;     /* the former leader goes on so long at most */
	uint64_t clog_rate;    /* a client hears nothing, or the server, and
				* then all, after hold_us at most */
	int64_t reap_ms;       /* between looks for empty directories; 0: a
				* minute */
	int holds_long;        /* callers hold for leases */
	int64_t ttl_ms;        /* in the URI */
	char uri[160];
};

/* Draw a weather.  Returns whether there are faults.  The draws of elections,
 * of reports that are held up, of a slow way, and of directories that are gone
 * soon are streams of their own, so a seed without them does not change with
 * them. */
int sim_zk_weather_draw(struct sim_zk_weather *w, struct sim_chance *chance,
			struct sim_chance *elections,
			struct sim_chance *reports);

#endif
