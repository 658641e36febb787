/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the model memcached.  Each function checks the number of
 * words, carries the command out, or has the connection wait for a data block.
 */
#ifndef DLOCK_SIM_MEMCACHED_COMMANDS_H
#define DLOCK_SIM_MEMCACHED_COMMANDS_H

#include "sim/memcached/call.h"

/* text.c */
void mm_get(struct mm_call *call);
void mm_update(struct mm_call *call);
void mm_delete(struct mm_call *call);
void mm_flush_all(struct mm_call *call);
void mm_version(struct mm_call *call);

/* meta.c */
void mm_meta_get(struct mm_call *call);
void mm_meta_delete(struct mm_call *call);
void mm_meta_none(struct mm_call *call);

/* stats.c */
void mm_stats(struct mm_call *call);

#endif
