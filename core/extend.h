/* SPDX-License-Identifier: Apache-2.0 */
/* Moving the end of holds with an end, for dlock_extend(). */
#ifndef DLOCK_CORE_EXTEND_H
#define DLOCK_CORE_EXTEND_H

#include <dlock/backend.h>

int dlki_extend(dlock_hold *hold, int64_t ms, struct dlk_error *err);

#endif
