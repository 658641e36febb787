/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The renewer's rounds: due renewals in a batch, then clean-up.
 */
#ifndef DLOCK_CORE_RENEW_H
#define DLOCK_CORE_RENEW_H

#include <dlock/backend.h>

struct dlock_client;

/* Do a round of due work.  Called with the client's mu held, which is released
 * while the backend works. */
void dlki_renew_round(struct dlock_client *client);

#endif
