/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The declarations shared by the files of the fake store.  The functions need
 * fakei_mu, but for the verbs, which take fakei_mu.  A function may call the
 * core's services under fakei_mu.
 */
#ifndef DLOCK_TESTS_FAKE_STORE_H
#define DLOCK_TESTS_FAKE_STORE_H

#include "core/name.h"
#include "fake.h"

#define MS INT64_C(1000000)
#define STORES 16
#define STEPS 64
#define LATES 256
#define CALLS 32768
#define OWED 64
#define BUCKETS (1u << 17)

/* A claim in the store. */
struct entry {
	struct entry *next;
	struct fake *fake;
	char key[DLKI_KEY_SIZE];
	char owner[33];
	char beside[33]; /* or "" */
	char label[64];
	enum dlk_kind kind;
	enum dlk_mode mode;
	uint32_t limit;
	int granted;
	uint64_t token;
	int watched;         /* dlk_wanted() tells of other sessions */
	uint64_t token_end;  /* the last token set aside for the claim */
	dlk_time until;
	struct dlk_session *session; /* the ticket to wake, or NULL */
	uint64_t id;
	char *name; /* stored after this struct */
};

/* A request that is executed at `at`, without a caller. */
struct late {
	dlk_time at;
	enum fake_verb verb; /* ATTEMPT or RELEASE */
	struct entry claim;
	char name[256];
	int64_t lease_ms;
};

/* The owed answer to a sent release. */
struct owed {
	uint64_t id;
	int rc;
};

struct session {
	struct dlk_session base;
	struct fake *fake;
	struct session *next;
	int wakes;
	int far;
	int renewing, closed;
	unsigned int asked;
	struct owed owed[OWED];
	size_t n_owed;
};

struct ticket {
	struct dlk_ticket base;
	int busy;
	int asked;    /* since the last release */
	int sent;     /* the store may have heard of it */
	int later;    /* a call was put off */
	int over;     /* lost or released: no renewal may follow */
	int granted;  /* the core was told of the loss */
	uint64_t token_end; /* the last token for the core */
	dlk_time end; /* the end of the lease told to the core */
};

struct fake {
	char name[32];
	int taken;
	struct session *sessions;
	struct fake_step step[FAKE_VERBS][STEPS];
	size_t n_steps[FAKE_VERBS];
	int wakes_nobody, tells_no_wants;
	uint64_t gate, cleared;
	struct late late[LATES];
	size_t n_late;
	size_t count[FAKE_VERBS];
	struct fake_call call[CALLS];
	size_t n_calls;
};

extern pthread_mutex_t fakei_mu;
extern pthread_cond_t fakei_changed;
extern struct fake fakei_stores[STORES];
extern struct entry *fakei_table[BUCKETS];
extern char fakei_complaint[200];
extern pid_t fakei_home;
extern int *fakei_in_child; /* shared with children: the children's calls */

/* Keeps the first breach of a rule. */
void fakei_complain(const char *fmt, ...) DLOCK_PRINTF(1, 2);

/* ---- The store: store.c -------------------------------------------------- */

struct entry **fakei_bucket(const struct fake *f, const char *key);

/* Tells whether `e` belongs to this lock. */
int fakei_same(const struct entry *e, const struct fake *f, const char *key);

/* Returns the link to the claim, or the end of the queue. */
struct entry **fakei_find(const struct fake *f, const char *key,
			  const char *owner);

/* Wakes the waiters that may enter now. */
void fakei_wake_line(struct fake *f, const char *key);

/* Removes `*p`, if any; tells whether there was a claim. */
int fakei_drop(struct entry **p);

/* Removes the claims whose lease has ended. */
void fakei_expire(struct fake *f, const char *key);
struct entry *fakei_append(const struct entry *like, const char *name);
uint64_t fakei_next_token(void);

/* Sets the next `n` free tokens aside for this holder; later holders get the
 * tokens not used. */
void fakei_set_tokens_aside(struct entry *e, uint64_t n);
void fakei_take_tokens_back(struct entry *e, uint64_t used);

dlk_time fakei_end_of(int64_t lease_ms);

/* Enqueues the claim, or finds the claim; grants the lock in turn.  NULL: no
 * memory.  `first_end`: the earliest end of a lease ahead. */
struct entry *fakei_ask(const struct entry *claim, const char *name,
			int64_t lease_ms, dlk_time *first_end);
void fakei_give_up(struct fake *f, const char *key, const char *owner);

/* Executes the requests that have arrived by now. */
void fakei_catch_up(struct fake *f);

/* ---- The begin and the end of each call: call.c -------------------------- */

/* Takes fakei_mu, checks the rules and logs the call; returns the scripted
 * step. */
struct fake_step fakei_begin(struct session *s, enum fake_verb verb,
			     const struct dlk_ticket *t, size_t n,
			     dlk_time deadline, size_t *place);

/* Releases fakei_mu. */
void fakei_end(struct session *s, size_t place);

/* Plays the request's way to the store.  1: do the request; 0: do the request,
 * but the caller will not hear; < 0: the failure, without an effect. */
int fakei_travel(struct session *s, const struct fake_step *step,
		 dlk_time deadline, struct dlk_error *err);

int fakei_is_late(const struct fake_step *step);

/* Checks that there is a single call at a time for a ticket. */
void fakei_seize(struct ticket *t);
struct entry fakei_claim_of(const struct ticket *t);

/* Has the store execute the request after the caller has returned. */
void fakei_do_late(const struct ticket *t, enum fake_verb verb,
		   const struct fake_step *step);

/* ---- Wants: wanted.c ----------------------------------------------------- */

/* Tells the watched holders of other sessions of a BUSY request. */
void fakei_tell_wanted(const struct entry *asker);

/* Notes the tokens used by the holder, before the release. */
void fakei_tokens_used(const struct ticket *t);

/* ---- Requests sent ahead: send.c ----------------------------------------- */

/* Gives the owed answers with the next answer of the session. */
void fakei_answer(struct session *s);

/* Tells whether the attempt, or the release, is to be called again. */
int fakei_put_off(struct dlk_ticket *base, int attempt, dlk_time deadline);

/* Ends the ticket, with the claim in the store. */
void fakei_forget(struct session *s, struct ticket *t);
void fakei_give_back(struct session *s, const struct ticket *t);

/* ---- The vtables: schemes.c; verbs.c, questions.c, wanted.c -------------- */

int fakei_register_schemes(void);

int fakei_open(struct dlk_session *base, dlk_time deadline,
	       struct dlk_error *err);
void fakei_close(struct dlk_session *base, dlk_time deadline);
enum dlk_verdict fakei_attempt(struct dlk_ticket *base, dlk_time deadline,
			       struct dlk_error *err);
void fakei_renew(struct dlk_session *base, struct dlk_ticket *const v[],
		 enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		 struct dlk_error *err);
int fakei_release(struct dlk_ticket *base, dlk_time deadline,
		  struct dlk_error *err);
int fakei_release_begin(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err);
void fakei_release_all(struct dlk_session *base, struct dlk_ticket *const v[],
		       size_t n, dlk_time deadline);
int fakei_downgrade(struct dlk_ticket *base, dlk_time deadline,
		    struct dlk_error *err);
int fakei_inspect(struct dlk_session *base, const struct dlk_request *c,
		  void (*each)(const struct dlock_participant *p, void *arg),
		  void *arg, dlk_time deadline, struct dlk_error *err);
int fakei_list(struct dlk_session *base,
	       void (*each)(const struct dlock_lock_info *e, void *arg),
	       void *arg,
	       dlk_time deadline, struct dlk_error *err);
int fakei_break(struct dlk_session *base, const struct dlk_request *c,
		dlk_time deadline, struct dlk_error *err);
int fakei_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err);
int fakei_revoke(struct dlk_session *base, const struct dlk_request *request,
		 dlk_time deadline, struct dlk_error *err);

#endif
