/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parties of a trial (lab/trial.h): workers that lock, each with a client of
 * its own, in a process of its own; of a store that is one process's alone, in
 * a thread.
 *
 * Once something in the trial has failed for reasons that are no store's fault,
 * all of these do nothing, so that behaviours read straight on.
 */
#ifndef DLOCK_LAB_PARTY_H
#define DLOCK_LAB_PARTY_H

#include "lab/errand.h"

struct lab_party;
struct lab_trial;

/* How to join. */
enum {
	LAB_JOIN_PROXIED = 1, /* through the fault proxy */
	LAB_JOIN_ALONE = 2,   /* in a process, whatever the store */
	LAB_JOIN_MAY_FAIL = 4 /* a store that cannot be opened is an answer: see
			       * lab_party_hello() */
};

/* The rc of a reply that did not come. */
#define LAB_NO_REPLY (-100)

/* `label` is static.  NULL: the trial has failed. */
struct lab_party *lab_join(struct lab_trial *t, const char *label, int how);

/* ... with DLOCK_CAP_ bits required. */
struct lab_party *lab_join_requiring(struct lab_trial *t, const char *label,
				     int how, uint32_t require);

const struct lab_reply *lab_party_hello(const struct lab_party *p);
const char *lab_party_label(const struct lab_party *p);

/* Begin an errand; wait for its reply, at most `ms`: rc LAB_NO_REPLY if it does
 * not come, which does not fail the trial; both. */
void lab_tell(struct lab_party *p, const struct lab_errand *e);
struct lab_reply lab_hear(struct lab_party *p, int64_t ms);
struct lab_reply lab_do(struct lab_party *p, const struct lab_errand *e);

/* Is the errand under way still?  Waits at most `ms` for its end. */
bool lab_busy(struct lab_party *p, int64_t ms);

/* The usual errands, on the trial's lock. */
struct lab_reply lab_take(struct lab_party *p, int64_t timeout_ms);
void lab_tell_take(struct lab_party *p, int64_t timeout_ms);
struct lab_reply lab_give(struct lab_party *p);

/* A side of the read-write lock, or a permit, of the trial's name. */
struct lab_reply lab_take_as(struct lab_party *p, enum lab_mode mode,
			     uint32_t limit, int64_t timeout_ms);

/* A verb behind LAB_SIDE; beside an errand. */
struct lab_reply lab_beside(struct lab_party *p, enum lab_verb_of_worker verb);

/* Wait until it waits in the store's line, or is about to. */
void lab_await_waiting(struct lab_party *p);

/* Written down in the history.  Not for threads. */
void lab_party_kill(struct lab_party *p);
void lab_party_pause(struct lab_party *p);
void lab_party_resume(struct lab_party *p);

/* It releases, closes and ends; who does not within 10 s is killed. */
void lab_leave(struct lab_party *p);

/* Everybody that is left; also of a trial that has failed.  Who they were is
 * known until lab_parties_free(). */
void lab_leave_all(struct lab_trial *t);
void lab_parties_free(struct lab_trial *t);

/* Whose hand this is, NULL: of none. */
const char *lab_party_of(const struct lab_trial *t, uint32_t tid);

/* In the process of a party: main() calls it where lab_compare_options.worker
 * says so.  Returns an exit code. */
int lab_worker_main(void);

#endif
