/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features of dlock in use by workers: a name for each, and the capability
 * of stores with the feature, 0 for all stores.  Holds expire in remote stores.
 */
#ifndef DLOCK_CHAOS_FEATURE_H
#define DLOCK_CHAOS_FEATURE_H

#include <dlock/dlock.h>

#define CHAOS_FEATURES(X)                                                     \
	X(MUTEX,    "mutex", 0)                                               \
	X(WRITE,    "write side", DLOCK_CAP_SHARED)                           \
	X(READ,     "read side", DLOCK_CAP_SHARED)                            \
	X(PERMIT,   "permit", DLOCK_CAP_COUNT)                                \
	X(PERMITS,  "several permits", DLOCK_CAP_PERMITS)                     \
	X(UPGRADEABLE, "upgradeable", DLOCK_CAP_UPGRADE)                      \
	X(UPGRADE,  "upgrade", DLOCK_CAP_UPGRADE)                             \
	X(DOWNGRADE, "downgrade", DLOCK_CAP_SHARED)                           \
	X(MULTI,    "multi-lock", 0)                                          \
	X(AGAIN,    "taken again", 0)                                         \
	X(BREAK,    "break", 0)                                               \
	X(REVOKE,   "revoke", 0)                                              \
	X(WANTED,   "told WANTED", 0)                                         \
	X(YIELD,    "released because wanted", 0)                             \
	X(KEEP,     "retaken from a keep", DLOCK_CAP_WANTED)                  \
	X(PASS,     "passed", DLOCK_CAP_WANTED)                               \
	X(LEASE,    "lease_ms", DLOCK_CAP_REMOTE)                             \
	X(ONE_LEASE, "no_renew", 0)                                           \
	X(END,      "max_hold_ms", 0)                                         \
	X(EXTEND,   "extend", 0)                                              \
	X(START,    "asynchronous", 0)                                        \
	X(CANCEL,   "cancel", 0)                                              \
	X(CANCEL_OP, "cancel of an operation", 0)                             \
	X(CLOSE,    "close in mid-air", 0)                                    \
	X(CLOSE_HELD, "... with holds", 0)                                    \
	X(CLOSE_WAITING, "... with waits", 0)

enum chaos_feature {
#define X(name, text, cap) CHAOS_##name,
	CHAOS_FEATURES(X)
#undef X
	CHAOS_NFEATURES
};

struct chaos_feature_row {
	const char *text;
	uint32_t cap;
};

extern const struct chaos_feature_row chaos_features[CHAOS_NFEATURES];

#endif
