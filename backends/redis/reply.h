/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of the server, as bytes come in.  Pure: no socket, no session.
 *
 * hiredis reads the protocol; what it reads is built here, in memory that is
 * used again for the next reply, and within limits: a reply of more than
 * REDIS_REPLY_MAX bytes, sent or built, is refused as nonsense, however it is
 * announced.
 */
#ifndef DLOCK_REDIS_REPLY_H
#define DLOCK_REDIS_REPLY_H

#include <dlock/backend.h>
#include <hiredis/hiredis.h>
#include <stddef.h>

#define REDIS_REPLY_MAX ((size_t)4 << 20)

enum redis_type {
	REDIS_NIL,
	REDIS_INTEGER,
	REDIS_STRING, /* bulk or status */
	REDIS_ERROR,
	REDIS_ARRAY,
	REDIS_ODD /* of RESP3: nothing that we asked for */
};

struct redis_reply {
	enum redis_type type;
	long long number;
	const char *text; /* of STRING and ERROR, with a NUL behind it */
	size_t len;       /* of the text, or how many parts */
	struct redis_reply **parts;
};

struct redis_block; /* of memory that replies are built in */

struct redis_reader {
	redisReader *hiredis;
	struct redis_block *first, *now;
	size_t built; /* bytes of this reply, in blocks */
	size_t fed;   /* bytes that came since the last whole reply */
	int refused;  /* what came is too large */
	int whole;    /* one was given out: its memory may be used again */
};

int dlki_redis_reader_init(struct redis_reader *r, struct dlk_error *err);
void dlki_redis_reader_free(struct redis_reader *r);

/* Bytes came in: 0, ENOMEM or EPROTO. */
int dlki_redis_reader_feed(struct redis_reader *r, const char *bytes, size_t n,
			   struct dlk_error *err);

/* The next reply, valid until the next call; 1: there is one, 0: more bytes are
 * needed, EPROTO: nonsense came, ENOMEM: the reader is of no more use. */
int dlki_redis_reader_next(struct redis_reader *r,
			   const struct redis_reply **out,
			   struct dlk_error *err);

/* Has all that came been given out?  What is left belongs to no request. */
int dlki_redis_reader_empty(const struct redis_reader *r);

/* ---- What the scripts say ------------------------------------------------ */

enum redis_answer {
	REDIS_GRANTED, /* with a token */
	REDIS_BUSY,    /* for so long at most */
	REDIS_LIMIT,   /* others have another limit */
	REDIS_FOREIGN, /* what is there is none of ours and stays */
	REDIS_ENDLESS, /* what is there is ours, and stays */
	REDIS_NONSENSE
};

struct redis_taken {
	enum redis_answer answer;
	uint64_t token;
	int64_t wait_ms; /* BUSY; 0: no telling */
	uint32_t limit;
};

/* Of take_exclusive and take_shared. */
struct redis_taken dlki_redis_taken(const struct redis_reply *r);

/* Of scripts that answer an integer: is it one of at least `least`? */
int dlki_redis_number(const struct redis_reply *r, int64_t least,
		      int64_t *out);

/* A message of the inbox. */
struct redis_push {
	char owner[33];
	uint64_t look;
	uint64_t token; /* 0: not granted, only woken */
};

/* Is it one, and not a confirmation or a pong? */
int dlki_redis_push(const struct redis_reply *r, struct redis_push *out);

/* A part of what inspect answers.  Points into the reply and into `label`. */
struct redis_party {
	struct dlock_party party;
	char id[9];
	char label[512];
};

int dlki_redis_party(const struct redis_reply *r, struct redis_party *out);

/* What describe answers about the lock `key`: 1, 0 if there is none, EPROTO.
 * `name` has room for 256 bytes. */
int dlki_redis_entry(const struct redis_reply *r, const char *key,
		     struct dlock_entry *out, char name[256]);

#endif
