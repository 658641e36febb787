/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake: a scripted store in this process, for tests.
 *
 * fake://NAME is a store with a wait queue per lock, owner checks, tokens and
 * leases; fake: is the store without a name.  A test scripts the next calls,
 * verb by verb, and reads the calls afterwards.  The store checks every call
 * against the rules of backend.h: see fake_complaint().
 *
 * Schemes: fake; fakebare, which has no downgrade, inspect, list and break;
 * fakemute, which has leases and no renew; fakeall, which has release_all;
 * fakewant, which is fake with watch_wanted; fakesend, which is fakewant with
 * release_begin; fakebatch, with answers_later;
 * fakewantbatch, which is both.
 *
 * URI parameters: ttl (none: no claim expires), agreed (the store's answer to
 * the ttl), check and margin (dlk_session.check_ms, margin_ms), wake=off
 * (waiters must poll), far=on (the store tells the core of round trips),
 * without (missing DLOCK_CAP_ bits).
 */
#ifndef DLOCK_TESTS_FAKE_H
#define DLOCK_TESTS_FAKE_H

#include <dlock/backend.h>

enum fake_verb {
	FAKE_OPEN,
	FAKE_CLOSE,
	FAKE_ATTEMPT,
	FAKE_RENEW,
	FAKE_RELEASE,
	FAKE_DOWNGRADE,
	FAKE_INSPECT,
	FAKE_LIST,
	FAKE_BREAK,
	FAKE_RELEASE_ALL,
	FAKE_WATCH,   /* watch_wanted */
	FAKE_REVOKE,
	FAKE_SEND,    /* release_begin: the answer is owed until the session's
		       * next attempt, or fake_answer().  A call not heard is
		       * never answered; a call not done has failed */
	FAKE_LATER,   /* a call without a wait: the store hears of an attempt at
		       * once.  `n` is 1 for an attempt, 0 for a release */
	FAKE_VERBS
};

enum fake_fault {
	FAKE_WORK,    /* no fault */
	FAKE_REFUSE,  /* not done; EUNREACHABLE at once */
	FAKE_SILENT,  /* not done; EUNREACHABLE at the deadline */
	FAKE_CUT,     /* done; EUNREACHABLE at once: the reply is lost */
	FAKE_LATE,    /* EUNREACHABLE at once; done late_ms from now */
	FAKE_CODE,    /* not done; fails with `code`, 0: without a reason */
	FAKE_BUSY,    /* attempt: BUSY, and no wake will come */
	FAKE_SAY      /* renew: `verdict` for each, whatever the store knows */
};

#define FAKE_ALWAYS (-1)

struct fake_step {
	enum fake_fault fault;
	int times;            /* 0 is 1; FAKE_ALWAYS */
	int64_t delay_ms;     /* the time of the request on the way; a request
			       * past the deadline is done all the same */
	int gate;             /* waits for fake_open_gate() or the deadline, and
			       * then goes on */
	int overrun;          /* gate and delay_ms, then the answer, whatever
			       * the deadline: this breaks rule 3 */
	int64_t late_ms;
	int code;
	enum dlk_renewal verdict;
	size_t part;          /* renew: the step is for so many tickets, and the
			       * others are PENDING; 0: for all */
	int64_t lease_ms;     /* GRANTED, RENEWED: the lease is this short */
	int64_t since_ms;     /* ... and began this long before the call */
	int64_t look_ms;      /* BUSY: look again after this time */
	int lose;             /* attempt: dlk_lost() before GRANTED */
	int unsent;           /* attempt, with REFUSE: not sent */
	int64_t overtime_ms;  /* attempt: the answer had as much more time */
	const char *says;     /* the call logs this, with the lock held */
	int resent;           /* attempt: the request is sent twice, and the
			       * first arrives late_ms from now */
	int wanted;           /* watch: another session asks already */
	int answer;           /* send: not done; the code of the answer */
	int early;            /* send: answered before the return */
	int64_t tokens;       /* watch: the number set aside; 0 is 1000, and
			       * -1 is 0 */
};

struct fake_call {
	enum fake_verb verb;
	uint64_t id;          /* the first ticket's, or 0 */
	size_t n;             /* tickets of a renew or release_all */
	uint64_t token_used;  /* release: the first ticket's */
	char owner[33];
	dlk_time begin, end, deadline; /* end 0: still under way */
};

struct fake;

/* Registers the schemes, once a process; returns 0 or an error. */
int fake_register(void);

/* Returns the store of the name, and makes the store if need be. */
struct fake *fake_store(const char *name);

/* Scripts the next calls of a verb, after the steps scripted before. */
void fake_script(struct fake *f, enum fake_verb verb, struct fake_step step);
#define FAKE_SCRIPT(f, verb, ...)                                              \
	fake_script(f, verb, (struct fake_step){ __VA_ARGS__ })
void fake_once(struct fake *f, enum fake_verb verb, enum fake_fault fault);
void fake_always(struct fake *f, enum fake_verb verb, enum fake_fault fault);
void fake_clear(struct fake *f); /* ends the script, and opens gates */
void fake_open_gate(struct fake *f);

/* Gives the next grant, by any store, the token of the last grant. */
void fake_repeat_token(void);

/* From now on, the store wakes no waiter; or tells no holder of a want. */
void fake_wake_nobody(struct fake *f);
void fake_tell_no_wants(struct fake *f);

/* Tells every session in `f` that claim `id` is wanted. */
void fake_want(struct fake *f, uint64_t id);

/* Wakes ticket `id` of every session in `f`; or tells of the loss. */
void fake_wake(struct fake *f, uint64_t id);
void fake_lose(struct fake *f, uint64_t id);
void fake_lose_saying(struct fake *f, uint64_t id, const char *why);
void fake_lose_all(struct fake *f);
void fake_log(struct fake *f, const char *line); /* a warning, by each */
void fake_move(struct fake *f); /* dlk_verify_all() */

/* Gives all owed answers to sent releases; or answers `rc` to ticket `id` of
 * every session. */
void fake_answer(struct fake *f);
void fake_say_released(struct fake *f, uint64_t id, int rc);

/* Forgets every claim, without a message. */
void fake_forget(struct fake *f);

/* Puts another client's claim in the queue; ttl_ms 0: for ever. */
void fake_occupy(struct fake *f, enum dlk_kind kind, const char *name,
		 int64_t ttl_ms);
void fake_vacate(struct fake *f, enum dlk_kind kind, const char *name);

/* Counts the store's claims: held, and waiting. */
size_t fake_held(struct fake *f);
size_t fake_waiting(struct fake *f);
size_t fake_waiting_anywhere(void);

/* Counts the calls begun; returns a call by number, all zero if not logged. */
size_t fake_count(struct fake *f, enum fake_verb verb);
struct fake_call fake_nth(struct fake *f, enum fake_verb verb, size_t i);
struct fake_call fake_last(struct fake *f, enum fake_verb verb);
/* Returns the first call for ticket `id`; without such a call, all zero. */
struct fake_call fake_first(struct fake *f, enum fake_verb verb, uint64_t id);

/* Returns the first breach of backend.h's rules, or NULL. */
const char *fake_complaint(void);

#endif
