/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the fake store share.  All of it needs fakei_mu, but for
 * the verbs, which take it; the core's services may be called with it held.
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

/* What the store knows of one claim. */
struct entry {
	struct entry *next;
	struct fake *fake;
	char key[DLKI_KEY_SIZE];
	char owner[33];
	char beside[33]; /* "": none */
	char label[64];
	enum dlk_kind kind;
	enum dlk_mode mode;
	uint32_t limit;
	int granted;
	uint64_t token;
	int watched;         /* dlk_wanted() is to tell of other sessions */
	uint64_t token_end;  /* the last that is set aside for it */
	dlk_time until;
	struct dlk_session *session; /* whom to wake; NULL: nobody */
	uint64_t id;
	char *name; /* behind this struct */
};

/* A request that will be executed at `at`, heard of by nobody. */
struct late {
	dlk_time at;
	enum fake_verb verb; /* ATTEMPT or RELEASE */
	struct entry claim;
	char name[256];
	int64_t lease_ms;
};

/* The answer to a release that was sent. */
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
	int asked;    /* since it was last released */
	int sent;     /* the store may have heard of it */
	int over;     /* lost or released: never to be renewed again */
	int granted;  /* ... and the core was told so */
	uint64_t token_end; /* the last that the core may use */
	dlk_time end; /* of the lease that the core was told */
};

struct fake {
	char name[32];
	int taken;
	struct session *sessions;
	struct fake_step step[FAKE_VERBS][STEPS];
	size_t n_steps[FAKE_VERBS];
	enum fake_wakes wakes;
	enum fake_wants wants;
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
extern int *fakei_in_child; /* shared with children: calls there */

/* Keep the first breach of a rule. */
void fakei_complain(const char *fmt, ...) DLOCK_PRINTF(1, 2);

/* ---- The store: store.c -------------------------------------------------- */

struct entry **fakei_bucket(const struct fake *f, const char *key);

/* Is `e` of this lock? */
int fakei_same(const struct entry *e, const struct fake *f, const char *key);

/* Where the claim hangs, or where its line ends. */
struct entry **fakei_find(const struct fake *f, const char *key,
			  const char *owner);

/* Tell those whose turn it is. */
void fakei_wake_line(struct fake *f, const char *key);

/* Forget `*p`, if there is one: was there? */
int fakei_drop(struct entry **p);

/* Forget what has run out. */
void fakei_expire(struct fake *f, const char *key);
struct entry *fakei_append(const struct entry *like, const char *name);
uint64_t fakei_next_token(void);

/* The next `n` tokens that nobody has are this holder's; all but those that it
 * has used are given to others later. */
void fakei_set_tokens_aside(struct entry *e, uint64_t n);
void fakei_take_tokens_back(struct entry *e, uint64_t used);

dlk_time fakei_end_of(int64_t lease_ms);

/* Stand in line, or find one's place; granted when it is one's turn.  NULL: no
 * memory.  `first_end`: when the earliest ahead runs out. */
struct entry *fakei_ask(const struct entry *claim, const char *name,
			int64_t lease_ms, dlk_time *first_end);
void fakei_give_up(struct fake *f, const char *key, const char *owner);

/* What has arrived by now is done: everybody looks through here. */
void fakei_catch_up(struct fake *f);

/* ---- What every call begins and ends with: call.c ------------------------ */

/* Take the lock, check the rules, log the call: how is it to go? */
struct fake_step fakei_begin(struct session *s, enum fake_verb verb,
			     const struct dlk_ticket *t, size_t n,
			     dlk_time deadline, size_t *place);

/* Give the lock back. */
void fakei_end(struct session *s, size_t place);

/* The request's way to the store.  1: it arrived and is to be done; 0: it is to
 * be done, but nobody will hear; < 0: what failed, and nothing was done. */
int fakei_travel(struct session *s, const struct fake_step *step,
		 dlk_time deadline, struct dlk_error *err);

/* After what was done unheard. */
void fakei_stay_mute(struct session *s, const struct fake_step *step,
		     dlk_time deadline);
int fakei_is_late(const struct fake_step *step);

/* One call at a time for a ticket. */
void fakei_seize(struct ticket *t);
struct entry fakei_claim_of(const struct ticket *t);

/* Have the store do it when the caller has gone. */
void fakei_do_late(const struct ticket *t, enum fake_verb verb,
		   const struct fake_step *step);

/* ---- Who asks: wanted.c -------------------------------------------------- */

/* It is BUSY: tell the holders that are watched, but its own session's. */
void fakei_tell_wanted(const struct entry *asker);

/* Before the release: what the holder has used of its tokens. */
void fakei_tokens_used(const struct ticket *t);

/* ---- Requests that are sent ahead: send.c -------------------------------- */

/* What is owed comes with the next answer of the session. */
void fakei_answer(struct session *s);

/* The ticket is done with; what it has in the store goes. */
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
void fakei_prepare(struct dlk_session *base, const struct dlk_coming v[],
		   size_t n);
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
