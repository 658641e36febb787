/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pump: the thread that reads the store's messages.
 *
 * A store that listens on a descriptor gives the descriptor to the core
 * (dlk_listen()).  A waiter that goes to sleep then polls the descriptor
 * itself, and has the pump meanwhile, so that the wake comes straight from the
 * kernel.  A single waiter at a time has the pump.  All other waiters sleep on
 * their condition.  While no waiter has the pump, the process's thread
 * "dlock-loop" has it (base/source.h).
 *
 * A waiter that takes the pump switches the descriptor off for dlock-loop, and
 * on again when it leaves; neither wakes dlock-loop.  Data that came meanwhile,
 * and was not read, wakes dlock-loop then.  So a change loses no data.  For a
 * moment both may pump: `mu` lets in one thread at a time.
 *
 * In a client without threads the waiter polls the client's attendant, the
 * store's descriptor among others, and attends.
 */
#ifndef DLOCK_CORE_PUMP_H
#define DLOCK_CORE_PUMP_H

#include <dlock/backend.h>
#include <pthread.h>

#include "core/base/source.h"

struct dlki_claim;
struct dlock_client;

/* Called by dlock-loop after a pump, without mu.  Calls no sink of a log: all
 * clients wait for dlock-loop. */
typedef void dlki_pump_then(struct dlock_client *c);

struct dlki_pump {
	pthread_mutex_t mu;      /* held while the backend pumps; taken before
				  * the client's mu, never with it held */

	/* Under the client's mu. */
	int fd;                  /* the session's; -1: not set */
	int wake_fd;             /* eventfd: rouses the waiter at the pump; -1:
				  * no descriptor yet */
	struct dlki_claim *at;   /* the waiter with the pump, or NULL */
	dlki_pump_then *then;    /* constant */
	struct dlki_source source; /* locks itself */
	int roused;              /* wake_fd was written to since the waiter took
				  * the pump */
	unsigned int followers;  /* threads that would take the pump */
};

void dlki_pump_init(struct dlki_pump *p, dlki_pump_then *then);

/* The client has an attendant of its own: 0, or an errno value. */
int dlki_pump_attend(struct dlock_client *c);

/* dlock-loop pumps no more; no waiter is left.  destroy() does so as well. */
void dlki_pump_stop(struct dlock_client *c);
void dlki_pump_destroy(struct dlock_client *c);

/* Is this thread dlock-loop, pumping for the client? */
int dlki_pump_is_here(const struct dlock_client *c);

/* With the client's mu held, for a waiter about to sleep: take the pump if it
 * is free.  0: sleep on the condition. */
int dlki_pump_take(struct dlki_claim *claim);
void dlki_pump_give(struct dlki_claim *claim);

/* With the client's mu held, which is released meanwhile: sleep until `until`,
 * data was taken in, or dlki_pump_rouse(). */
void dlki_pump_wait(struct dlki_claim *claim, dlk_time until);

/* With the client's mu held: if the claim's waiter has the pump, rouse it, and
 * return 1. */
int dlki_pump_rouse(const struct dlki_claim *claim);

#endif
