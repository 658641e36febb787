/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem: locks within this process, first come, first served.
 *
 * Every client that opens the same mem://NAME, or mem:, meets the others there.
 * Nothing expires unless the URI says a ttl.  Three parameters rehearse what
 * other stores do to a program: `lose`, `refuse`, `delay`.
 */
#ifndef DLOCK_MEM_H
#define DLOCK_MEM_H

#include <dlock/backend.h>

#define MEM_MS INT64_C(1000000)

/* One lock: a line of holders and waiters in the order of asking. */
struct mem_line {
	struct mem_party *first, **last;
	uint32_t limit;  /* of the semaphore's parties */
	enum dlk_kind kind;
	char *name;      /* for people; behind key */
	char key[];      /* namespace, prefix, claim's key */
};

/* The backend's ticket; zeroed: in no line. */
struct mem_party {
	struct dlk_ticket ticket;
	struct mem_line *line;   /* NULL: in none */
	struct mem_party *next, **link;
	int granted;
	uint64_t token;
	dlk_time until;          /* of a holder's lease */
	dlk_time lose_at;        /* the rehearsed loss */
};

struct mem_session {
	struct dlk_session base;
	int leased;
	int64_t lose_ms, delay_ms;
	uint32_t refuse_percent;
	char space[160];         /* namespace and prefix */
};

/* Protects all lines and parties, and what line.c keeps.  A leaf but for the
 * core's services, which are called with it held. */
extern pthread_mutex_t dlki_mem_mu;

/* What the URI's rehearsal parameters do to a request: 0 or EUNREACHABLE.
 * Without dlki_mem_mu. */
int dlki_mem_rehearse(struct mem_session *s, dlk_time deadline,
		 struct dlk_error *err);

/* ---- line.c: with dlki_mem_mu held --------------------------------------- */

/* Lines of a parent process are of no use here. */
void dlki_mem_lines_forget(void);

/* Stand at the end of the line, which is made if there is none. */
int dlki_mem_join(struct mem_party *p, struct dlk_error *err);

/* Drop whose lease has run out, and wake whose turn it is then.  The line goes
 * with the last one. */
void dlki_mem_expire(struct mem_line *line, dlk_time now);

/* Leave the line and wake whose turn it is then. */
void dlki_mem_leave(struct mem_party *p);

/* Wake those whose turn it is. */
void dlki_mem_wake(struct mem_line *line);

/* Is it this one's turn?  1, 0, or ENOMEM. */
int dlki_mem_turn(const struct mem_party *p, struct dlk_error *err);

/* Larger than every token before it. */
uint64_t dlki_mem_token(void);

/* The line of a claim, or NULL; `*err` says ENOMEM if that is why. */
struct mem_line *dlki_mem_find(const struct mem_session *s,
			  const struct dlk_claim *claim,
			  struct dlk_error *err);

/* Call `each` for every line of the session's namespace. */
void dlki_mem_each(const struct mem_session *s,
	      void (*each)(const struct dlock_entry *e, void *arg), void *arg);

/* ---- report.c: inspect, list, break -------------------------------------- */

int dlki_mem_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		void (*each)(const struct dlock_party *p, void *arg),
		void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_mem_list(struct dlk_session *s,
	     void (*each)(const struct dlock_entry *e, void *arg), void *arg,
	     dlk_time deadline, struct dlk_error *err);
int dlki_mem_break(struct dlk_session *s, const struct dlk_claim *claim,
	      dlk_time deadline, struct dlk_error *err);

#endif
