/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards of a client: the process that owns it, calls under way, references.
 */
#ifndef DLOCK_CORE_GUARD_H
#define DLOCK_CORE_GUARD_H

#include "core/client.h"

/* EINVAL for NULL; EFORKED in a process other than the client's. */
int dlki_client_here(const struct dlock_client *client, struct dlk_error *err);

/* The same, and EINVAL for a client that is not open: not yet, or never. */
int dlki_client_ours(const struct dlock_client *client, struct dlk_error *err);

/*
 * Begin a public call with use of the backend: 0, EFORKED, or ECANCELED once
 * the client is closing.  dlki_client_end() ends it.  dlock_close() waits for
 * every call to end.
 */
int dlki_client_begin(struct dlock_client *client, struct dlk_error *err);
void dlki_client_end(struct dlock_client *client);

/* The same with mu held, whether the client is closing or not. */
void dlki_call_begin(struct dlock_client *client);
void dlki_call_end(struct dlock_client *client);

/* With mu held, which is released meanwhile: sleep until `until` or a change.
 * In a client without threads this thread attends meanwhile, up to 10 ms
 * late. */
void dlki_client_sleep(struct dlock_client *client, dlk_time until);

/* Unlock mu; frees the client if no reference is left. */
void dlki_client_unlock(struct dlock_client *client);

/* Free a client without references. */
void dlki_client_destroy(struct dlock_client *client);

#endif
