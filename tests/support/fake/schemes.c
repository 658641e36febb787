/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of the schemes. */
#include "fake/store.h"

static const struct dlk_param params[] = {
	{ "agreed", DLK_DURATION, NULL, 0, 86400000, NULL,
	  "the lease that the store agrees to" },
	{ "check", DLK_DURATION, NULL, 0, 86400000, NULL,
	  "how often the core is to look" },
	{ "margin", DLK_DURATION, NULL, 0, 86400000, NULL,
	  "what the store wants off every lease" },
	{ "wake", DLK_SWITCH, "on", 0, 0, NULL, "tells waiters" },
	{ "far", DLK_SWITCH, "off", 0, 0, NULL, "tells how far away it is" },
	{ "without", DLK_NUMBER, "0", 0, UINT32_MAX, NULL,
	  "capabilities that the store turns out to lack" },
	{ "password_file", DLK_TEXT, NULL, 1, 4096, NULL,
	  "where the password is" },
	{ 0 }
};

#define CAPS                                                                   \
	(DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |               \
	 DLOCK_CAP_FENCE | DLOCK_CAP_FAIR | DLOCK_CAP_WAKE |                   \
	 DLOCK_CAP_EXPIRE | DLOCK_CAP_UPGRADE | DLOCK_CAP_NO_THREADS)

/* The members of each backend. */
#define COMMON(scheme, text, more)                                             \
	.size = sizeof(struct dlock_backend),                                  \
	.schemes = (const char *const[]){ scheme, NULL }, .summary = (text),   \
	.caps = CAPS | (more), .params = params,                               \
	.session_size = sizeof(struct session),                                \
	.ticket_size = sizeof(struct ticket), .open = fakei_open,              \
	.close = fakei_close, .attempt = fakei_attempt,                        \
	.release = fakei_release

#define LOOKS (DLOCK_CAP_INSPECT | DLOCK_CAP_LIST)

/* The members for stores with questions. */
#define LOOKED_AT                                                              \
	.renew = fakei_renew, .downgrade = fakei_downgrade,                    \
	.inspect = fakei_inspect, .list = fakei_list, .break_ = fakei_break

/* The members for stores that watch claims. */
#define TELLING                                                                \
	LOOKED_AT, .watch_wanted = fakei_watch_wanted, .revoke = fakei_revoke

static const struct dlock_backend full = {
	COMMON("fake", "a scripted store for tests", LOOKS),
	LOOKED_AT,
};

static const struct dlock_backend bare = {
	COMMON("fakebare", "a scripted store without extras", 0),
	.renew = fakei_renew,
};

static const struct dlock_backend mute = {
	COMMON("fakemute", "a scripted store that cannot renew", 0),
};

static const struct dlock_backend all = {
	COMMON("fakeall", "a scripted store that releases many at once", 0),
	.renew = fakei_renew,
	.release_all = fakei_release_all,
};

static const struct dlock_backend want = {
	COMMON("fakewant", "a scripted store that tells who asks",
	       LOOKS | DLOCK_CAP_WANTED),
	TELLING,
};

static const struct dlock_backend send = {
	COMMON("fakesend", "the same, and its releases are answered later",
	       LOOKS | DLOCK_CAP_WANTED),
	TELLING,
	.release_begin = fakei_release_begin,
};

static const struct dlock_backend batch = {
	COMMON("fakebatch", "a scripted store that answers later", LOOKS),
	LOOKED_AT,
	.answers_later = 1,
};

static const struct dlock_backend want_batch = {
	COMMON("fakewantbatch", "the same, and it tells who asks",
	       LOOKS | DLOCK_CAP_WANTED),
	TELLING,
	.answers_later = 1,
};

int fakei_register_schemes(void)
{
	static const struct dlock_backend *const backends[] = {
		&full, &bare, &mute, &all, &want, &send, &batch, &want_batch,
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (rc == 0)
			rc = dlock_backend_register(backends[i]);
	}
	return rc;
}
