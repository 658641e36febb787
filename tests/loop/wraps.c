/* SPDX-License-Identifier: Apache-2.0 */
/* The "memory" that the cases of this program let run out. */
#include <stdlib.h>

#include "support/fault.h"

#define WRAP(f, params, names)                                                 \
	void *__real_##f params;                                               \
	void *__wrap_##f params;                                               \
	void *__wrap_##f params                                                \
	{                                                                      \
		return fault_hits("memory") ? NULL : __real_##f names;         \
	}

WRAP(malloc, (size_t size), (size))
WRAP(calloc, (size_t n, size_t size), (n, size))
WRAP(realloc, (void *p, size_t size), (p, size))
