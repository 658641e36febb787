/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CORE_STATS_H
#define DLOCK_CORE_STATS_H

#include <dlock/backend.h>

/* Count a duration; a negative one counts as 0. */
void dlki_times_add(struct dlock_times *times, dlk_time ns);

#endif
