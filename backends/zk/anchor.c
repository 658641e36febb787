/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/anchor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* In 2255.  Tokens up to here are exact as floating point numbers, too. */
#define LAST_CLOCK_MS ((INT64_C(1) << 53) / 1000)
#define LAST_US (INT64_C(1) << 62)

int64_t dlki_zk_anchor_clock(int64_t time_ms)
{
	return time_ms > 0 && time_ms <= LAST_CLOCK_MS ? time_ms * 1000 : 0;
}

/* How far `zxid` is above the anchor, at most a span; below it lies only
 * another history, after the servers lost the first. */
static int64_t distance(struct zk_anchor anchor, int64_t zxid)
{
	if (zxid < anchor.zxid || zxid - anchor.zxid > ZK_ANCHOR_SPAN)
		return ZK_ANCHOR_SPAN;
	return zxid - anchor.zxid;
}

struct zk_anchor dlki_zk_anchor_next(struct zk_anchor before, int64_t zxid,
				     int64_t mtime_ms)
{
	struct zk_anchor next = { zxid, dlki_zk_anchor_clock(mtime_ms) };

	if (next.us == 0)
		next.us = 1;
	if (before.us != 0 && next.us < before.us + distance(before, zxid))
		next.us = before.us + distance(before, zxid);
	return next;
}

uint64_t dlki_zk_anchor_token(struct zk_anchor now, struct zk_anchor before,
			      int64_t zxid)
{
	struct zk_anchor anchor = zxid > now.zxid ? now : before;

	if (anchor.us == 0 || zxid <= anchor.zxid ||
	    zxid - anchor.zxid >= ZK_ANCHOR_SPAN)
		return 0;
	return (uint64_t)(anchor.us + (zxid - anchor.zxid));
}

void dlki_zk_anchor_print(struct zk_anchor anchor, char out[ZK_ANCHOR_SIZE])
{
	out[0] = '\0';
	if (anchor.us != 0)
		snprintf(out, ZK_ANCHOR_SIZE, "%" PRId64 " %" PRId64,
			 anchor.zxid, anchor.us);
}

int dlki_zk_anchor_parse(const char *text, struct zk_anchor *out)
{
	char *zxid_end, *end;

	*out = (struct zk_anchor){ 0 };
	if (!text[0])
		return 1;
	out->zxid = strtoll(text, &zxid_end, 10);
	out->us = strtoll(zxid_end, &end, 10);
	return zxid_end != text && *zxid_end == ' ' && end != zxid_end &&
	       *end == '\0' && out->zxid >= 0 && out->us > 0 &&
	       out->us < LAST_US;
}
