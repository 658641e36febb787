/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Condition variables that wait until a dlk_time.
 */
#ifndef DLOCK_CORE_COND_H
#define DLOCK_CORE_COND_H

#include <dlock/backend.h>

/* Wait on `cond`, made by dlki_cond_init(), until `until` on the boot-time
 * clock or a little less: callers loop. */
void dlki_wait(pthread_cond_t *cond, pthread_mutex_t *mu, dlk_time until);
void dlki_cond_init(pthread_cond_t *cond);

#endif
