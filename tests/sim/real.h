/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real server to play cases against.
 */
#ifndef DLOCK_TESTS_SIM_REAL_H
#define DLOCK_TESTS_SIM_REAL_H

#include "lab/servers/server.h"
#include "sim/play.h"

struct play_real {
	struct play_server base;
	struct lab_server *server;
	int fds[PLAY_CONNECTIONS + 1];
	struct sim_bytes in[PLAY_CONNECTIONS + 1];
	int64_t wall_ms;
};

/* play_real_end() frees `server`.  The caller sets the functions that not every
 * store has. */
void play_real_begin(struct play_real *r, struct lab_server *server,
		     const struct play_language *language);
void play_real_end(struct play_real *r);

#endif
