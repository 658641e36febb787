/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and data of memcached's protocols, under an absolute deadline. */
#ifndef DLOCK_BACKENDS_MEMCACHED_WIRE_H
#define DLOCK_BACKENDS_MEMCACHED_WIRE_H

#include "conn.h"

/* Send the request. */
int dlki_memc_send(struct memc_conn *c, dlk_time deadline,
		   struct dlk_error *err);

/* The next line of the answer without its end; good until the next call. */
int dlki_memc_line(struct memc_conn *c, const char **line, dlk_time deadline,
		   struct dlk_error *err);

/* The answer to an operation. */
int dlki_memc_read(struct memc_conn *c, struct memc_op *op,
		   struct memc_reading *r, dlk_time deadline,
		   struct dlk_error *err);

/* What was sent at `asked` is answered: how far away is the server? */
void dlki_memc_answered(struct memc_conn *c, dlk_time asked);

/* The error code that an unexpected line stands for. */
int dlki_memc_unexpected_from(const struct memc_conn *c, const char *line,
			      struct dlk_error *err);

#endif
