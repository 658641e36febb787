/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backends: built in, known but not built, or registered.
 */
#ifndef DLOCK_CORE_REGISTRY_H
#define DLOCK_CORE_REGISTRY_H

#include <dlock/backend.h>
#include <stddef.h>

/* The backend for a scheme.  ENOTSUP: known but not built (says which option
 * builds it); EINVAL: unknown (says the nearest). */
int dlki_registry_find(const struct dlock_backend **out, const char *scheme,
		       struct dlk_error *err);

/* Does a backend, which may be older than the member, have this member? */
#define DLKI_HAS(backend, member)                                             \
	((backend)->size >= offsetof(struct dlock_backend, member) +          \
				    sizeof((backend)->member) &&              \
	 (backend)->member)

/* As dlock_backend_register(), with the reason in `err`.  `file` is what the
 * backend was loaded from, or NULL. */
int dlki_registry_add(const struct dlock_backend *b, const char *file,
		      struct dlk_error *err);

/* ---- The check of members and capabilities: backend_check.c -------------- */

/* EINVAL: a member, a capability or a parameter is missing or does not fit;
 * `err` names the flaw and the cure.  The schemes are not checked. */
int dlki_backend_check(const struct dlock_backend *b, struct dlk_error *err);

#endif
