/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flags of a request of the meta protocol: a letter each, some with a
 * value.
 */
#ifndef DLOCK_SIM_MEMCACHED_FLAGS_H
#define DLOCK_SIM_MEMCACHED_FLAGS_H

#include "sim/memcached/call.h"

struct mm_flags {
	size_t first;        /* place of the first flag among the words */
	int is_silent;       /* q */
	int is_look;         /* u: no fetch */
	int has_value;       /* v */
	int is_stale;        /* I */
	int makes;           /* N */
	uint32_t made_end_s; /* ... */
	int has_end;         /* T */
	uint32_t end_s;      /* ... */
	uint32_t recache_s;  /* R */
	uint32_t client;     /* F */
	int has_cas;         /* C */
	uint64_t cas;        /* ... */
	char mode;           /* M */
	uint64_t initial;    /* J */
	uint64_t delta;      /* D; 1 */
};

#define MM_OPAQUE_TOO_LONG "CLIENT_ERROR opaque token too long"

/* 1, or the reply says that the line is too short, or too long. */
int mm_flags_may_follow(const struct mm_call *call, const char *too_long);

/* Read the words from the first flag on.  NULL, or the reply with the error. */
const char *mm_flags_read(const struct mm_call *call, size_t first,
			  struct mm_flags *out);

/* The "O..." of the request is not too long. */
int mm_flags_opaque_fits(const struct mm_call *call,
			 const struct mm_flags *flags);

/* Of "O..." append the word, of "k" the key, with a blank ahead. */
void mm_flags_echo(struct sim_bytes *out, struct mm_text word,
		   struct mm_text key);

/* Append "EN" and the like, the repeated flags, and a line end. */
void mm_flags_put_line(const struct mm_call *call, const char *status,
		       const struct mm_flags *flags);

/* How many seconds are left until then: " t30". */
void mm_put_left(struct sim_bytes *out, const struct mm_items *all,
		 uint32_t end_s);

#endif
