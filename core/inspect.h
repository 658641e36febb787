/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the store apart from holds: inspect, list, resize, break,
 * revoke.
 *
 * A backend may report with its own locks held, but the user's callback may
 * call anything.  So the core calls it when the backend has returned and the
 * call has ended for the client; the callback may even close the client.
 */
#ifndef DLOCK_CORE_INSPECT_H
#define DLOCK_CORE_INSPECT_H

#include "core/lock.h"

/* The questions of dlock_inspect_start() and dlock_break_start(), in steps. */
struct dlki_question;

/* Without `each`, break the lock.  NULL: see err. */
struct dlki_question *
dlki_question_new(const dlock_lock *lock,
		  void (*each)(const struct dlock_participant *p, void *arg),
		  void *arg, int64_t timeout_ms, struct dlk_error *err);

/* With mu held: the question is about the lock of `record`, whatever becomes of
 * the handle.  Returns the question's deadline. */
dlk_time dlki_question_begin(struct dlki_question *question,
			     struct dlki_record *record);
const struct dlki_record *dlki_question_record(
	const struct dlki_question *question);

/* Ask the store, which has until `latest` at most, but `ask` at least: the
 * calls before the question may have taken all of the time.  Without mu, as a
 * call of the client. */
int dlki_question_ask(struct dlki_question *question, dlk_time latest,
		      struct dlk_error *err);

/* Tell of the answer, which was `rc`, and free the question.  Without mu; the
 * client stays. */
void dlki_question_end(struct dlki_question *question, int rc);

/* The body of dlock_inspect(); and of dlock_semaphore_resize(), for a
 * semaphore. */
int dlki_inspect(const dlock_lock *lock,
		 void (*each)(const struct dlock_participant *p, void *arg),
		 void *arg, int64_t timeout_ms, struct dlk_error *err);
int dlki_resize(const dlock_lock *lock, uint32_t permits, int64_t timeout_ms,
		struct dlk_error *err);

#endif
