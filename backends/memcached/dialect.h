/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an item and deleting it: the requests in which the meta and the text
 * protocol differ, meta.c and text.c. */
#ifndef DLOCK_BACKENDS_MEMCACHED_DIALECT_H
#define DLOCK_BACKENDS_MEMCACHED_DIALECT_H

#include "batch.h"

struct memc_dialect {
	void (*put_get)(struct memc_conn *c, const char *key);
	void (*put_drop)(struct memc_conn *c, const char *key, uint64_t cas);
	/* MISSING or OTHER, the item's text in `text`, of MEMC_TEXT_SIZE. */
	int (*read_get)(struct memc_conn *c, struct memc_op *op, char *text,
			dlk_time deadline, struct dlk_error *err);
	int (*read_drop)(struct memc_conn *c, struct memc_op *op,
			 dlk_time deadline, struct dlk_error *err);
};

extern const struct memc_dialect dlki_memc_meta, dlki_memc_text;

#endif
