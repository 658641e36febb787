/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When dlock-loop looks at a session: upkeep.c does the due work then.
 */
#ifndef DLOCK_BACKENDS_ZK_TIMER_H
#define DLOCK_BACKENDS_ZK_TIMER_H

#include "backends/zk/zk.h"
#include "core/base/source.h"

/* Written by timer.c and upkeep.c, with the session locked. */
struct zk_timer {
	struct dlki_source source;
	dlk_time at; /* DLK_FOREVER: not set */
};

/* With the session locked: have dlock-loop look at `at` at the latest. */
void dlki_zk_timer_set(struct zk_session *s, dlk_time at);
void dlki_zk_timer_now(struct zk_session *s);

#endif
