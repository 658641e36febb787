/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session does that no caller waits for.  "dlock-loop" does what is due
 * and waits for nothing: pings, deferred watches, the lease's evidence.  A job
 * of "dlock-work" does what may wait for a server or for a name: it makes
 * connections, moves the session to other servers, and deletes orphans.
 */
#ifndef DLOCK_BACKENDS_ZK_UPKEEP_H
#define DLOCK_BACKENDS_ZK_UPKEEP_H

#include "backends/zk/zk.h"
#include "core/base/job.h"

enum zk_work { ZK_IDLE, ZK_POSTED, ZK_WORKS };

/* Written by upkeep.c, with the session locked, but `retry_at`. */
struct zk_upkeep {
	struct dlki_job job;
	dlk_time retry_at; /* the job does nothing before */
	enum zk_work work; /* of the job */
	int stop;          /* the session is to end */
	int ended;         /* the connection is closed */
	int told;          /* that there is no session */
};

/* With the session not locked: begin to connect.  After a failure nothing is
 * left to be stopped. */
int dlki_zk_upkeep_start(struct zk_session *s, struct dlk_error *err);
/* With the session not locked: end the services of the core, close the
 * connection and free the session.  If that takes longer than `deadline`, as
 * with a frozen server, another thread frees the session later. */
void dlki_zk_upkeep_stop(struct zk_session *s, dlk_time deadline);

#endif
