/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions, and when each is over: a time-out after the last request,
 * rounded up to the next tick. */
#ifndef DLOCK_SIM_ZK_SESSIONS_H
#define DLOCK_SIM_ZK_SESSIONS_H

#include <stdint.h>

enum { ZK_PASSWORD = 16 };

struct zk_session {
	struct zk_session *next;
	int64_t id;
	int32_t timeout_ms;
	int64_t over_ms;
	char password[ZK_PASSWORD];
	uint64_t conn; /* of the session */
};

struct zk_sessions {
	struct zk_session *v;
	int64_t last_id;
	int32_t tick_ms, min_ms, max_ms;
};

/* Add a session; the time-out is moved to the limits. */
struct zk_session *zk_sessions_add(struct zk_sessions *s, int32_t timeout_ms,
				   int64_t up_ms);
int32_t zk_sessions_limit(const struct zk_sessions *s, int32_t timeout_ms);

/* NULL: no such session. */
struct zk_session *zk_sessions_find(const struct zk_sessions *s, int64_t id);
void zk_sessions_remove(struct zk_sessions *s, int64_t id);

/* Make `to` a copy. */
void zk_sessions_copy(struct zk_sessions *to, const struct zk_sessions *from);
void zk_sessions_free(struct zk_sessions *s);

/* A request of the session has come. */
void zk_sessions_touch(const struct zk_sessions *s, struct zk_session *one,
		       int64_t up_ms);

/* Return the session that is over first; NULL: there is no session. */
const struct zk_session *zk_sessions_first(const struct zk_sessions *s);

#endif
