/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and data of memcached's protocols, under an absolute deadline. */
#ifndef DLOCK_BACKENDS_MEMCACHED_WIRE_H
#define DLOCK_BACKENDS_MEMCACHED_WIRE_H

#include "conn.h"

/* Append text to the request, which has room for it.  Of formats it knows %s
 * and PRIu64. */
void dlki_memc_put(struct memc_conn *c, const char *fmt, ...)
	DLOCK_PRINTF(2, 3);

/* Send the request. */
int dlki_memc_send(struct memc_conn *c, dlk_time deadline,
		   struct dlk_error *err);

/* The next line of the answer without its end; good until the next call. */
int dlki_memc_line(struct memc_conn *c, const char **line, dlk_time deadline,
		   struct dlk_error *err);

/* The next `size` bytes and a line end.  Only the first `most` bytes are kept,
 * with a NUL behind. */
int dlki_memc_data(struct memc_conn *c, size_t size, char *out, size_t most,
		   dlk_time deadline, struct dlk_error *err);

/* What was sent at `asked` is answered: how far away is the server? */
void dlki_memc_answered(struct memc_conn *c, dlk_time asked);

/* The error code that an unexpected line stands for. */
int dlki_memc_unexpected(const struct memc_conn *c, const char *line,
			 struct dlk_error *err);

#endif
