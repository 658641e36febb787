/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_CORE_BASE_VERB_H
#define DLOCK_CORE_BASE_VERB_H

#include <dlock/backend.h>

/* The type of a store's function in struct dlock_backend, to declare it. */
#define DLKI_VERB(member) __typeof__(*(struct dlock_backend){ 0 }.member)

#endif
