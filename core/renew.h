/* SPDX-License-Identifier: Apache-2.0 */
/* Renewals, in batches. */
#ifndef DLOCK_CORE_RENEW_H
#define DLOCK_CORE_RENEW_H

#include "core/claim.h"

/* All but dlki_renewals_new() need the client's mu, and release mu
 * meanwhile. */

/* Do the due work: renewals in a batch, then clean-up; and as long as a server
 * does not answer, the work that falls due at the others. */
void dlki_renew_round(struct dlock_client *client);

/* ---- Renewals that no thread waits for: see struct dlki_schedule --------- */

/* NULL: no memory. */
struct dlki_renewals *dlki_renewals_new(void);

/* End the renewals under way, and free. */
void dlki_renewals_end(struct dlock_client *client);

/* As dlki_schedule.hurry. */
int dlki_renewals_hurry(const struct dlki_claim *claim, dlk_time deadline);

#endif
