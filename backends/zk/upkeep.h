/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's work without a waiting caller.  "dlock-loop" does the due work
 * that does not wait: pings, deferred watches, the lease's evidence.  A job of
 * "dlock-work" does the work that may wait for a server or for a name: it makes
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
	/* In a client without threads, for a thread that waits: do what is due.
	 * NULL: the threads do. */
	void (*attend)(struct zk_session *s);
	dlk_time retry_at; /* the job rests until then */
	enum zk_work work; /* of the job */
	int stop;          /* the session is to end */
	int ended;         /* the connection is closed */
	int told;          /* without a session */
};

/* With the session not locked: begin to connect.  After a failure there is no
 * thread to stop. */
int dlki_zk_upkeep_start(struct zk_session *s, struct dlk_error *err);
/* With the session not locked: end the services of the core, close the
 * connection and free the session.  If closing takes longer than `deadline`, as
 * with a frozen server, another thread frees the session later. */
void dlki_zk_upkeep_stop(struct zk_session *s, dlk_time deadline);

#endif
