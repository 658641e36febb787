/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, grants and releases as the arguments of a script.  Pure.
 */
#ifndef DLOCK_REDIS_ARGS_H
#define DLOCK_REDIS_ARGS_H

#include "backends/redis/protocol/command.h"

enum {
	RD_OWNER_LEN = 32,
	RD_TOKEN_LEN = 16,
	RD_KEY_SIZE = 136,   /* prefix:{key} */
	RD_GRANT_SIZE = 52,  /* owner token */
	RD_RECORD_SIZE = 200 /* of a waiter */
};

/* Print the key of a lock: prefix:{key}. */
struct redis_arg dlki_redis_key(const char *prefix, const char *key,
				char out[RD_KEY_SIZE]);

/* Print "owner token", which identifies a grant. */
struct redis_arg dlki_redis_grant(const char *owner, uint64_t token,
				  char out[RD_GRANT_SIZE]);

/* Print "f x 0 1 dlock:inbox:...": the script's record of a waiter.  `order` is
 * the URI's, 'f' or 'a'. */
struct redis_arg dlki_redis_wait_record(char order,
					const struct dlk_request *request,
					uint64_t attempt, const char *channel,
					char out[RD_RECORD_SIZE]);

/* Print the label payload, "lease label\nname", or "lease*permits label\nname"
 * for several, or "lease^owner label\nname" for an upgrade beside that owner's
 * claim: a participant's description for others.  `ttl`: the lease, in
 * digits; others learn from the lease, too, when the clock was set back.  The
 * label's first `label_len` bytes count. */
enum { RD_PAYLOAD_SIZE = 560 };
struct redis_arg dlki_redis_payload(const struct dlk_request *request,
				    struct redis_arg ttl,
				    char out[RD_PAYLOAD_SIZE]);

#endif
