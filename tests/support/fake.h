/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake: a scripted store in this process, for tests.
 *
 * fake://NAME is a store of its own with a line per lock, owner checks, tokens
 * and leases; fake: is the one without a name.  A test tells it, verb by verb,
 * how the next calls go wrong, and reads afterwards which calls there were.
 * Every call is checked against the rules of backend.h: see fake_complaint().
 *
 * Schemes: fake; fakebare, which has no downgrade, inspect, list and break;
 * fakemute, which has leases and no renew; fakeall, which has release_all;
 * fakewant, which is fake with watch_wanted; fakewantall, which has both;
 * fakesend, which is fakewant with release_begin.
 *
 * URI parameters: ttl (none: nothing expires), agreed (the ttl that the store
 * answers with), check, margin and linger (dlk_session.check_ms, margin_ms,
 * linger_ms), wake=off (waiters must poll), far=on (it tells the core of its
 * round trips), without (DLOCK_CAP_ bits that the store lacks).
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
	FAKE_SEND,    /* release_begin: its answer is owed until the session's
		       * next attempt, or fake_answer().  What is not heard is
		       * never answered; what is not done has failed */
	FAKE_PREPARE, /* prepare: the store hears of the attempts at once */
	FAKE_VERBS
};

enum fake_fault {
	FAKE_WORK,    /* none */
	FAKE_REFUSE,  /* not done; EUNREACHABLE at once */
	FAKE_SILENT,  /* not done; EUNREACHABLE at the deadline */
	FAKE_CUT,     /* done; EUNREACHABLE at once: the reply is lost */
	FAKE_MUTE,    /* done; EUNREACHABLE at the deadline */
	FAKE_LATE,    /* EUNREACHABLE at once; done late_ms from now */
	FAKE_CODE,    /* not done; fails with `code`, 0: without a reason */
	FAKE_BUSY,    /* attempt: BUSY, and no wake will come */
	FAKE_SAY      /* renew: `verdict` for each, whatever the store knows */
};

#define FAKE_ALWAYS (-1)

struct fake_step {
	enum fake_fault fault;
	int times;            /* 0 is 1; FAKE_ALWAYS */
	int64_t delay_ms;     /* the request travels this long; when that is
			       * past the deadline it is done all the same */
	int gate;             /* waits for fake_open_gate() or the deadline, and
			       * then goes on as said */
	int overrun;          /* gate and delay_ms, then the answer, whatever
			       * the deadline: this breaks rule 3 */
	int64_t late_ms;
	int code;
	enum dlk_renewal verdict;
	int64_t lease_ms;     /* GRANTED, RENEWED: the lease is this short */
	int64_t since_ms;     /* ... and began this long before the call */
	int64_t look_ms;      /* BUSY: look again after this time */
	int lose;             /* attempt: dlk_lost() before GRANTED is told */
	int unsent;           /* attempt, with REFUSE: nobody could hear it */
	const char *says;     /* the call logs it, with the lock held */
	int resent;           /* attempt: this is the second time that it is
			       * sent; the first arrives late_ms from now */
	int wanted;           /* watch: another session asks already */
	int answer;           /* send: not done, and answered so */
	int early;            /* send: answered before it returns */
	int64_t tokens;       /* watch: so many are set aside; 0 is 1000, < 0
			       * none */
};

struct fake_call {
	enum fake_verb verb;
	uint64_t id;          /* the first ticket's, or 0 */
	size_t n;             /* tickets of a renew or release_all */
	uint64_t token_used;  /* release: what the first ticket says */
	char owner[33];
	dlk_time begin, end, deadline; /* end 0: still under way */
};

struct fake;

/* Register the schemes, once a process; 0 or an error. */
int fake_register(void);

/* The store of that name, made if need be. */
struct fake *fake_store(const char *name);

/* How the next calls of a verb go, after what was said before. */
void fake_script(struct fake *f, enum fake_verb verb, struct fake_step step);
#define FAKE_SCRIPT(f, verb, ...)                                              \
	fake_script(f, verb, (struct fake_step){ __VA_ARGS__ })
void fake_once(struct fake *f, enum fake_verb verb, enum fake_fault fault);
void fake_always(struct fake *f, enum fake_verb verb, enum fake_fault fault);
void fake_clear(struct fake *f); /* work as usual from now on; opens gates */
void fake_open_gate(struct fake *f);

/* The next grant, by any store, has the token of the last one. */
void fake_repeat_token(void);

enum fake_wakes { FAKE_WAKE, FAKE_WAKE_NOT, FAKE_WAKE_TWICE };

/* What waiters hear when a claim goes. */
void fake_set_wakes(struct fake *f, enum fake_wakes wakes);

enum fake_wants { FAKE_WANT, FAKE_WANT_NOT, FAKE_WANT_TWICE };

/* What the holder of a watched claim hears when another session asks for it. */
void fake_set_wants(struct fake *f, enum fake_wants wants);

/* Tell every session in `f` that its claim `id` is wanted. */
void fake_want(struct fake *f, uint64_t id);

/* Tell ticket `id` of every session in `f` that something changed, or that it
 * is lost. */
void fake_wake(struct fake *f, uint64_t id);
void fake_lose(struct fake *f, uint64_t id);
void fake_lose_saying(struct fake *f, uint64_t id, const char *why);
void fake_lose_all(struct fake *f);
void fake_log(struct fake *f, const char *line); /* likewise: a warning */
void fake_move(struct fake *f); /* dlk_verify_all() */

/* The answers to releases that were sent: all that are owed come now; or
 * ticket `id` of every session is told `rc`. */
void fake_answer(struct fake *f);
void fake_say_released(struct fake *f, uint64_t id, int rc);

/* Forget every claim, and tell nobody. */
void fake_forget(struct fake *f);

/* Put a claim of somebody else's in the line; ttl_ms 0: it stays. */
void fake_occupy(struct fake *f, enum dlk_kind kind, const char *name,
		 int64_t ttl_ms);
void fake_vacate(struct fake *f, enum dlk_kind kind, const char *name);

/* Claims that the store knows now: held, and waiting. */
size_t fake_held(struct fake *f);
size_t fake_waiting(struct fake *f);
size_t fake_waiting_anywhere(void);

/* Calls begun, and the i-th of them; one that was not logged is all zero. */
size_t fake_count(struct fake *f, enum fake_verb verb);
struct fake_call fake_nth(struct fake *f, enum fake_verb verb, size_t i);
struct fake_call fake_last(struct fake *f, enum fake_verb verb);
/* The first for ticket `id`; without such a call all zero. */
struct fake_call fake_first(struct fake *f, enum fake_verb verb, uint64_t id);

/* The first breach of backend.h's rules that was seen, or NULL. */
const char *fake_complaint(void);

#endif
