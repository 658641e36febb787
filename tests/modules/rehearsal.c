/* SPDX-License-Identifier: Apache-2.0 */
/* The store of mem:, with the faults of rehearsals, under another scheme. */
#include "backends/mem/mem.h"

extern const struct dlock_backend dlki_mem_backend;

static const char *const schemes[] = { "rehearsal", NULL };

static struct dlock_backend rehearsal;

static void __attribute__((constructor)) take_over(void)
{
	rehearsal = dlki_mem_backend;
	rehearsal.schemes = schemes;
}

DLOCK_MODULE(&rehearsal);
