/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, with the session locked: until a time, for a state, for replies.
 */
#ifndef DLOCK_BACKENDS_ZK_WAIT_H
#define DLOCK_BACKENDS_ZK_WAIT_H

#include <pthread.h>

#include "backends/zk/zk.h"
#include "core/base/patience.h"

struct zk_call;

/* A thread's wait for replies. */
struct zk_reply_wait {
	struct zk_reply_wait *next; /* in drive.waiting */
	pthread_cond_t done;
	size_t left; /* missing replies; call.c counts them */
	const struct dlki_patience *patience; /* of the waiting thread */
};

/* Sleep until `until` at most; the session is unlocked meanwhile.  0: `until`
 * has come. */
int dlki_zk_sleep(pthread_cond_t *cond, struct zk_session *s, dlk_time until);

/* The same, until the connection has another state.  To be followed by
 * dlki_zk_drive_leave(). */
int dlki_zk_await_connection(struct zk_session *s, dlk_time until);

/* Wait until all calls are done, or `deadline`; the session is unlocked
 * meanwhile.  NULLs are skipped. */
void dlki_zk_wait(struct zk_session *s, struct zk_call *const calls[], size_t n,
		  dlk_time deadline);

#endif
