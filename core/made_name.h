/* SPDX-License-Identifier: Apache-2.0 */
/* Legal names of locks, out of any bytes, for dlock_name_make(). */
#ifndef DLOCK_CORE_MADE_NAME_H
#define DLOCK_CORE_MADE_NAME_H

#include <dlock/dlock.h>

struct dlk_error;

/* The body of dlock_name_make(). */
int dlki_name_make(char out[DLOCK_NAME_SIZE], const void *bytes, size_t len,
		   struct dlk_error *err);

#endif
