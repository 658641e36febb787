/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of a backend's members and capabilities.
 */
#ifndef DLOCK_CORE_BACKEND_CHECK_H
#define DLOCK_CORE_BACKEND_CHECK_H

#include <dlock/backend.h>

/* EINVAL: a member, a capability or a parameter is missing or does not fit;
 * `err` names the flaw and the cure.  The schemes are not checked. */
int dlki_backend_check(const struct dlock_backend *b, struct dlk_error *err);

#endif
