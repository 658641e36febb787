/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CORE_BASE_CONTAINER_H
#define DLOCK_CORE_BASE_CONTAINER_H

#include <stddef.h>

/* Return the struct `type` around its `member` at `ptr`. */
#define DLKI_CONTAINER_OF(ptr, type, member)                                  \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
