/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies: the answers of the scripts, notifications, and INFO.  Pure.
 */
#ifndef DLOCK_REDIS_ANSWER_H
#define DLOCK_REDIS_ANSWER_H

#include <dlock/backend.h>

#include "backends/redis/protocol/reply.h"

/* ---- Scripts ------------------------------------------------------------- */

enum redis_attempt_result {
	RD_GRANTED, /* with a token */
	RD_BUSY,    /* for at most this long */
	RD_LIMIT,   /* others have another limit */
	RD_FOREIGN, /* the key is not ours, and never expires */
	RD_ENDLESS, /* the key is ours, but never expires */
	RD_NONSENSE
};

struct redis_attempt_answer {
	enum redis_attempt_result type;
	uint64_t token;
	int64_t wait_ms; /* BUSY; 0: unknown */
	uint64_t clock_us; /* BUSY: the server's; 0: unknown */
	uint32_t limit;
};

/* Read the answer of attempt_exclusive and attempt_shared. */
struct redis_attempt_answer
dlki_redis_attempt_answer(const struct redis_reply *r);

/* Read an integer; 0: the answer is none, or below `least`, or 2^53 or more. */
int dlki_redis_number(const struct redis_reply *r, int64_t least,
		      int64_t *out);

/* Read the answer of watch; 0: nonsense. */
struct redis_watch_answer {
	int others;    /* another session asks */
	uint64_t last; /* of the tokens; 0: the claim does not stand */
};

int dlki_redis_watch_answer(const struct redis_reply *r,
			    struct redis_watch_answer *out);

/* Is this the answer to the first call of break, which tells the holders?  It
 * is the largest token, zeroes without a holder; and with `plain` maybe the
 * digest of the plain key's value. */
enum { RD_SEEN_LEN = 16 + 40 };
int dlki_redis_is_seen(const struct redis_reply *r, int plain);

/* Read the row of inspect with the limit of a semaphore; 0: another row. */
int dlki_redis_limit_row(const struct redis_reply *r, uint32_t *limit);

/* Read a participant's row of inspect.  Points into the reply and into
 * itself. */
struct redis_participant {
	struct dlock_participant participant;
	char id[9];
	char label[512];
};

int dlki_redis_participant(const struct redis_reply *r,
			   struct redis_participant *out);

/* Read the answer of describe for the lock `key`: 1, 0 if there is no lock,
 * EPROTO.  `name` has room for 256 bytes. */
int dlki_redis_lock_info(const struct redis_reply *r, const char *key,
			 struct dlock_lock_info *out, char name[256]);

/* ---- The server ---------------------------------------------------------- */

/* A message of the notification channel. */
struct redis_notification {
	char owner[33];
	uint64_t attempt;
	uint64_t token; /* 0: the lock was not granted; try again */
	uint64_t clock_us; /* the server's, at the grant; 0: unknown */
};

/* Read a message; 0: a confirmation, a pong or nonsense. */
int dlki_redis_notification(const struct redis_reply *r,
			    struct redis_notification *out);

/* Find the value of a field in the answer to INFO; it ends with the line.
 * NULL: no such field. */
const char *dlki_redis_info_field(const char *info, const char *name);

#endif
