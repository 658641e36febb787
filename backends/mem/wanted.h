/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_BACKENDS_MEM_WANTED_H
#define DLOCK_BACKENDS_MEM_WANTED_H

#include "backends/mem/mem.h"

/* Tell the watched holder of another session of the wish of `t`.  With
 * dlki_mem_mu held; `t` is in a queue, and BUSY. */
void dlki_mem_tell_wanted(const struct mem_ticket *t);

#endif
