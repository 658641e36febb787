/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wait of a call: the longest time, the reasons to end, and the sleep
 * between two attempts.
 */
#ifndef DLOCK_CORE_WAIT_H
#define DLOCK_CORE_WAIT_H

#include "core/base/patience.h"
#include "core/claim.h"
#include "core/lock.h"

struct dlki_wait {
	dlk_time begun;                 /* no request was sent before */
	dlk_time deadline;              /* the caller's */
	bool once;                      /* ask once */
	bool is_try;                    /* the caller's timeout is 0 */
	bool no_wait;                   /* the caller does not wait for the
					 * store now */
	uint32_t permits;               /* of a semaphore; 0 is 1 */
	const struct dlki_terms *terms; /* of the hold, or NULL */
	struct dlki_patience patience;  /* over when it is cancelled; with the
					 * `ask` of the last attempt */
	struct dlki_claim *beside;      /* of an upgrade: the read side's */
};

/* The results of a sleep, beside 0 and the error codes: another claim of the
 * client was passed to this waiter; or the waiter is an asynchronous call,
 * which sleeps without a thread, and is to be resumed.  The store answers a
 * request of an asynchronous call later, which is to be resumed as well. */
enum { DLKI_PASSED = 2, DLKI_SLEEPS, DLKI_ASKS };

/* 0, or EINVAL for a negative number other than DLOCK_FOREVER. */
int dlki_timeout_check(int64_t timeout_ms, struct dlk_error *err);

struct dlki_wait dlki_wait_new(dlock_lock *lock, int64_t timeout_ms);

/* 0, or ECANCELED: a cancel has waited for this wait to begin. */
int dlki_wait_begin(struct dlki_wait *wait, struct dlk_error *err);

/* The deadline of a request that begins `now`.  Requests may take `ask` beyond
 * the caller's deadline: the last answer decides, and a try needs that time to
 * receive one. */
dlk_time dlki_wait_end_limit(const struct dlock_client *client,
			     const struct dlki_wait *wait, dlk_time now);

/* The same for a thread that waits for the answer: in a client without threads
 * the thread renews as well, and the request leaves time for that.  Without mu;
 * or with mu held, by _here(). */
dlk_time dlki_wait_io_limit(struct dlock_client *client,
			    const struct dlki_wait *wait, dlk_time now);
dlk_time dlki_wait_io_limit_here(const struct dlock_client *client,
				 const struct dlki_wait *wait, dlk_time now);

/* In a client without threads: is there time for another attempt?  Before it
 * the thread may clean up, for as long as a renewal may wait.  Without mu. */
int dlki_wait_has_time(struct dlock_client *client,
		       const struct dlki_wait *wait);

/* 0, or ECANCELED. */
int dlki_wait_cancelled(const struct dlki_claim *claim, struct dlki_wait *wait,
			struct dlk_error *err);

/* Without mu, in a call without a claim: sleep until then, or until the
 * patience is over, which the client's `changed` tells. */
void dlki_wait_pause(struct dlock_client *client,
		     struct dlki_patience *patience, dlk_time until);

/* With mu held, which is released meanwhile: sleep until the claim is woken, or
 * `until`.  0, DLKI_PASSED, DLKI_SLEEPS, ECANCELED or ENOMEM. */
int dlki_wait_sleep(struct dlki_claim *claim, dlock_lock *lock,
		    struct dlki_wait *wait, dlk_time until,
		    struct dlk_error *err);

/* The same without mu. */
int dlki_wait_park(struct dlki_claim *claim, dlock_lock *lock,
		   struct dlki_wait *wait, dlk_time until,
		   struct dlk_error *err);

/* With mu held: is an asynchronous call's sleep over?  As dlki_wait_sleep(),
 * with the sleep begun there. */
int dlki_wait_resume(struct dlki_claim *claim, struct dlki_wait *wait,
		     dlk_time until, struct dlk_error *err);

/* With mu held: the call sleeps no more, whatever it slept for. */
void dlki_wait_end(struct dlki_claim *claim);

#endif
