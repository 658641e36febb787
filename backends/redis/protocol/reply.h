/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of the server, as bytes come in.  Pure: no socket, no session.
 *
 * hiredis reads the protocol, but for a number or a short text that comes whole
 * and alone, as most replies do.  hiredis builds the replies here, in memory
 * that serves again for the next reply, and within limits: a reply of more than
 * RD_REPLY_MAX bytes, sent or built, is refused as nonsense, whatever length it
 * announces.
 */
#ifndef DLOCK_REDIS_REPLY_H
#define DLOCK_REDIS_REPLY_H

#include <dlock/backend.h>
#include <hiredis/hiredis.h>
#include <stddef.h>

#define RD_REPLY_MAX ((size_t)4 << 20)

enum redis_type {
	RD_NIL,
	RD_INTEGER,
	RD_STRING, /* bulk or status */
	RD_ERROR,
	RD_ARRAY,
	RD_ODD /* of RESP3, which is not asked for */
};

struct redis_reply {
	enum redis_type type;
	long long number;
	const char *text; /* of STRING and ERROR, with a NUL behind it */
	size_t len;       /* of the text, or how many parts */
	struct redis_reply **parts;
};

struct redis_block; /* of memory, in which replies are built */

struct redis_reader {
	redisReader *hiredis;
	struct redis_reply brief; /* that came whole and alone, if has_brief */
	char brief_text[64];
	int has_brief;
	struct redis_block *first, *current;
	size_t built; /* bytes of this reply, in blocks */
	size_t fed;   /* bytes since the last whole reply */
	char began[8]; /* the first bytes, with a NUL */
	int refused;  /* the reply is too large */
	int whole;    /* the last reply was given out: free its memory */
};

int dlki_redis_reader_init(struct redis_reader *r, struct dlk_error *err);
void dlki_redis_reader_free(struct redis_reader *r);

/* Take bytes in: 0, ENOMEM or EPROTO. */
int dlki_redis_reader_feed(struct redis_reader *r, const char *bytes, size_t n,
			   struct dlk_error *err);

/* Return the next reply, valid until the next call; 1: there is a reply, 0:
 * more bytes are needed, EPROTO: nonsense came, ENOMEM: the reader is of no
 * more use. */
int dlki_redis_reader_next(struct redis_reader *r,
			   const struct redis_reply **out,
			   struct dlk_error *err);

#endif
