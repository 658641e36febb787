/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's requests and tickets as the arguments of a script.  Pure.
 */
#ifndef DLOCK_REDIS_TICKET_H
#define DLOCK_REDIS_TICKET_H

#include "backends/redis/args.h"
#include "backends/redis/redis.h"

/* The key of a lock: prefix:{key}. */
struct redis_arg dlki_redis_session_key(const struct redis_session *s,
					const char *key, char out[RD_KEY_SIZE]);
struct redis_arg dlki_redis_ticket_key(struct redis_ticket *t);

/* The plain key of a lock, the name as it is; without key=plain no text. */
struct redis_arg dlki_redis_plain_key(const struct redis_session *s,
				      const struct dlk_request *request);

/* EINVAL if the plain key could be a key of dlock's own. */
int dlki_redis_session_check(const struct redis_session *s,
			   const struct dlk_request *request,
			   struct dlk_error *err);

/* "owner token", which identifies what was granted. */
struct redis_arg dlki_redis_ticket_grant(const struct redis_ticket *t,
					 char out[RD_GRANT_SIZE]);

#endif
