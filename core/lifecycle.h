/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a claim's life that schedule, events and clean-ups learn of.
 * All need the client's mu.
 */
#ifndef DLOCK_CORE_LIFECYCLE_H
#define DLOCK_CORE_LIFECYCLE_H

#include "core/claim.h"

/* Give it a ticket id and room in the schedule. */
int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err);

/* Its waiter, if there is one, looks at what has changed. */
void dlki_claim_rouse(struct dlki_claim *claim);

/* HELD becomes LOST: out of the schedule, descriptor, clean-up, and an event
 * while there is a dispatcher. */
void dlki_claim_lose(struct dlki_claim *claim, const char *why);

/* The store may still have something of it: the renewer is to release it. */
void dlki_claim_clean(struct dlki_claim *claim);

/* The store holds nothing of it: forget the id, and the renewer's duty. */
void dlki_claim_gone(struct dlki_claim *claim);

#endif
