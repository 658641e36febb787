/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a claim's life, with news for schedule, events and clean-ups.
 * All need the client's mu.
 */
#ifndef DLOCK_CORE_LIFECYCLE_H
#define DLOCK_CORE_LIFECYCLE_H

#include "core/claim.h"

/* Give the claim a ticket id and room in the schedule. */
int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err);

/* Have the waiter, if there is one, look at the change. */
void dlki_claim_rouse(struct dlki_claim *claim);

/* The same, and releases mu meanwhile, because the waiter takes mu first of
 * all. */
void dlki_claim_rouse_soon(struct dlki_claim *claim);

/* HELD becomes LOST: out of the schedule, descriptor, clean-up, and an event
 * while there is a dispatcher.  But if the last release has begun and the lease
 * has ended meanwhile, the claim stays HELD: the release goes on. */
void dlki_claim_lose(struct dlki_claim *claim, const char *why);

/* The same if the promise has run out, with the reason; else do nothing. */
void dlki_claim_expire(struct dlki_claim *claim);

/* End a claim that may still stand in the store: CLEANING, from now on. */
void dlki_claim_clean(struct dlki_claim *claim);

/* The first release has ended: GONE, or CLEANING. */
void dlki_claim_released(struct dlki_claim *claim, bool confirmed);

/* Have the renewer release a RELEASING or LOST claim at `at`, unless an answer
 * comes before. */
void dlki_claim_await(struct dlki_claim *claim, dlk_time at);

/* HELD becomes KEPT, a clean-up due at `until`; see keep.h. */
void dlki_claim_keep(struct dlki_claim *claim, dlk_time until);

/* KEPT becomes CLEANING, and is due now. */
void dlki_claim_unkeep(struct dlki_claim *claim);

/* KEPT becomes RELEASING: by the caller, or at `at` by the renewer. */
void dlki_claim_give_up(struct dlki_claim *claim, dlk_time at);

/* KEPT is no clean-up any more, and HELD next. */
void dlki_claim_retake(struct dlki_claim *claim);

/* A LOST claim is released: CLEANING, or GONE if the store has no trace
 * left. */
void dlki_claim_end_lost(struct dlki_claim *claim);

/* The claim is gone from the store: forget the id, and the renewer's duty.  A
 * LOST claim stays LOST, any other is GONE. */
void dlki_claim_gone(struct dlki_claim *claim);

#endif
