/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of the model Redis, in RESP2.
 */
#ifndef DLOCK_SIM_REDIS_REPLY_H
#define DLOCK_SIM_REDIS_REPLY_H

#include <stdint.h>

#include "sim/base/bytes.h"
#include "sim/redis/text.h"

void rm_reply_status(struct sim_bytes *out, const char *text);

/* Append "ERR ...".  Line ends in the text become blanks. */
void rm_reply_error(struct sim_bytes *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void rm_reply_integer(struct sim_bytes *out, int64_t n);
void rm_reply_text(struct sim_bytes *out, struct rm_text text);
void rm_reply_word(struct sim_bytes *out, const char *word);
void rm_reply_double(struct sim_bytes *out, double d);
void rm_reply_nil(struct sim_bytes *out);

/* `n` replies follow. */
void rm_reply_array(struct sim_bytes *out, size_t n);

#endif
