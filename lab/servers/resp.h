/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough of the Redis protocol (RESP2) to read replies.  Internal. */
#ifndef DLOCK_LAB_RESP_H
#define DLOCK_LAB_RESP_H

#include <stddef.h>

/* One behind the reply that begins at `p`; NULL if it is not complete. */
const char *lab_resp_end(const char *p, const char *end);

/* The text of a complete reply, as lab_redis_do() has it. */
int lab_resp_text(const char *p, char *out, size_t size);

#endif
