/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale of tokens: the number that a transaction is worth.  Pure.
 *
 * Tokens are to rise with every transaction, and to follow microseconds since
 * 1970.  An anchor says that the transaction `zxid` is worth `us`; each later
 * transaction is worth 1 more than the previous, until the next anchor.  An
 * anchor is good for ZK_ANCHOR_SPAN transactions, and the next anchor is worth
 * more than all of these.  So no client need know which of them took place, and
 * an election, which makes zxids jump by 2^32, makes tokens jump by a second at
 * most.
 */
#ifndef DLOCK_BACKENDS_ZK_ANCHOR_H
#define DLOCK_BACKENDS_ZK_ANCHOR_H

#include <stdint.h>

#define ZK_ANCHOR_SPAN (INT64_C(1) << 20)
#define ZK_ANCHOR_SIZE 48 /* of the text */

/* A server's time in microseconds; 0 if it cannot be. */
int64_t dlki_zk_anchor_clock(int64_t time_ms);

struct zk_anchor {
	int64_t zxid;
	int64_t us; /* 0: no anchor */
};

/*
 * The anchor that a write to the node made: the write's own transaction, worth
 * the leader's time `mtime_ms`, or more if the anchor `before` it, which the
 * write left in the node, requires more.
 */
struct zk_anchor dlki_zk_anchor_next(struct zk_anchor before, int64_t zxid,
				     int64_t mtime_ms);

/* Return the worth of the transaction, by the last anchor before it: `now`, or
 * else `before`.  0: not known. */
uint64_t dlki_zk_anchor_token(struct zk_anchor now, struct zk_anchor before,
			      int64_t zxid);

/* The anchor's text in the node, "ZXID US"; "" for no anchor.  Parsing returns
 * 0 for a text that no dlock wrote. */
void dlki_zk_anchor_print(struct zk_anchor anchor, char out[ZK_ANCHOR_SIZE]);
int dlki_zk_anchor_parse(const char *text, struct zk_anchor *out);

#endif
