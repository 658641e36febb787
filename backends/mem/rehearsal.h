/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_BACKENDS_MEM_REHEARSAL_H
#define DLOCK_BACKENDS_MEM_REHEARSAL_H

#include "backends/mem/mem.h"

/* Read the URI's parameters: 0 or EINVAL. */
int dlki_mem_rehearsal_begin(struct mem_session *s, struct dlk_error *err);

/* Delay or refuse a call, as the URI's parameters say: 0 or EUNREACHABLE.
 * Without dlki_mem_mu. */
int dlki_mem_rehearse(struct mem_session *s, dlk_time deadline,
		      struct dlk_error *err);

#endif
