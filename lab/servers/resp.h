/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough of the Redis protocol (RESP2) to read replies.  Internal. */
#ifndef DLOCK_LAB_RESP_H
#define DLOCK_LAB_RESP_H

#include <stddef.h>

/* Return the end of the reply that begins at `p`; NULL if it is not
 * complete. */
const char *lab_resp_end(const char *p, const char *end);

/* Write the text of a complete reply, in the form of lab_redis_do(). */
int lab_resp_text(const char *p, char *out, size_t size);

#endif
