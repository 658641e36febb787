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

/* The same, and releases mu meanwhile, because the waiter takes it first of
 * all. */
void dlki_claim_rouse_soon(struct dlki_claim *claim);

/* HELD becomes LOST: out of the schedule, descriptor, clean-up, and an event
 * while there is a dispatcher. */
void dlki_claim_lose(struct dlki_claim *claim, const char *why);

/* It is over, and the store may still have something of it: CLEANING, from now
 * on. */
void dlki_claim_clean(struct dlki_claim *claim);

/* The first release has ended: GONE, or CLEANING. */
void dlki_claim_released(struct dlki_claim *claim, bool confirmed);

/* In its state, RELEASING or LOST: the renewer is to release it at `at`, unless
 * an answer comes before that. */
void dlki_claim_await(struct dlki_claim *claim, dlk_time at);

/* HELD becomes KEPT, a clean-up that is due at `until`; see keep.h. */
void dlki_claim_keep(struct dlki_claim *claim, dlk_time until);

/* KEPT becomes CLEANING, and is due now. */
void dlki_claim_unkeep(struct dlki_claim *claim);

/* KEPT becomes RELEASING: the caller sees to that, or at `at` the renewer. */
void dlki_claim_give_up(struct dlki_claim *claim, dlk_time at);

/* KEPT is no clean-up any more, and HELD next. */
void dlki_claim_retake(struct dlki_claim *claim);

/* A LOST claim is released: CLEANING, or GONE if the store has nothing left. */
void dlki_claim_end_lost(struct dlki_claim *claim);

/* The store holds nothing of it: forget the id, and the renewer's duty.
 * A claim that is LOST stays so, any other is GONE. */
void dlki_claim_gone(struct dlki_claim *claim);

#endif
