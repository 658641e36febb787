/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for what `stats` tells. */
#ifndef DLOCK_BACKENDS_MEMCACHED_CLOCK_H
#define DLOCK_BACKENDS_MEMCACHED_CLOCK_H

#include "conn.h"

/* What a session knows of the server's clock.  NULL: no memory. */
struct memc_clock *dlki_memc_clock_new(void);
void dlki_memc_clock_free(struct memc_clock *clock);

/* Read the answer to the `stats` that was sent for at `asked` or later, and set
 * c->run.  EUNREACHABLE: another run of the server told it. */
int dlki_memc_stats_read(struct memc_conn *c, struct memc_stats *st,
			 dlk_time asked, dlk_time deadline,
			 struct dlk_error *err);

/* Does the connection still lead to the run of the server that it was made to?
 * EUNREACHABLE: it does not.  Asks only if that was not seen just now. */
int dlki_memc_confirm(struct memc_conn *c, dlk_time deadline,
		      struct dlk_error *err);

/* Wait until the server's clock goes on: within a second, unless the server is
 * stopped. */
int dlki_memc_clock_await(struct memc_conn *c, dlk_time deadline,
			  struct dlk_error *err);

void dlki_memc_sleep_until(dlk_time until);

#endif
