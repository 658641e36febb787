/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_SUPPORT_CLOSED_H
#define DLOCK_TESTS_SUPPORT_CLOSED_H

#include <dlock/backend.h>

extern const struct dlock_backend dlki_mem_backend; /* the store mem: */

/* Return a valid backend without optional members.  The open is refused. */
struct dlock_backend closed_backend(const char *const *schemes);

#endif
