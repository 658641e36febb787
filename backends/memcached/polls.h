/* SPDX-License-Identifier: Apache-2.0 */
/* The looks of a session; see looks.h. */
#ifndef DLOCK_BACKENDS_MEMCACHED_POLLS_H
#define DLOCK_BACKENDS_MEMCACHED_POLLS_H

#include "memcached.h"

/* NULL: no memory. */
struct memc_polls *dlki_memc_polls_new(void);
void dlki_memc_polls_free(struct memc_polls *p);

/* Was another waiter of this client for the same told "busy" just now?  0 for a
 * waiter whose last attempt this is: it asks for itself. */
int dlki_memc_polls_busy(const struct memc_ticket *t);

/* This waiter was told "busy".  Returns when it is to look again; 0: when the
 * core's backoff says so. */
dlk_time dlki_memc_polls_told(struct memc_ticket *t);

/* Its lock has come free: wake this client's waiters. */
void dlki_memc_polls_wake(const struct memc_ticket *t);

#endif
