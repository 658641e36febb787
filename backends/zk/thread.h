/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's thread: it makes connections, moves them to other servers, and
 * does what is due later.
 */
#ifndef DLOCK_BACKENDS_ZK_THREAD_H
#define DLOCK_BACKENDS_ZK_THREAD_H

#include <pthread.h>

#include "backends/zk/zk.h"

/* Written by thread.c, with the session locked; `id` only before the thread
 * runs.  To give it work, signal `work`. */
struct zk_thread {
	pthread_t id;
	pthread_cond_t work;
	int stop;  /* it is to end */
	int ended; /* it has closed the connection */
	int told;  /* that there is no session */
};

/* Both with the session not locked.  The thread has a reference to it. */
int dlki_zk_thread_start(struct zk_session *s, struct dlk_error *err);
/* End the services of the core, the session and the thread, and drop the
 * caller's reference.  What takes longer than `deadline` is left to the
 * thread. */
void dlki_zk_thread_stop(struct zk_session *s, dlk_time deadline);

#endif
