/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes of the kernel's. */
#ifndef DLOCK_CORE_RANDOM_H
#define DLOCK_CORE_RANDOM_H

#include <dlock/backend.h>

/* Fill all of `out`, however often the kernel is interrupted; 0 or ESYSTEM.
 * Changes errno. */
int dlki_random(void *out, size_t size, struct dlk_error *err);

#endif
