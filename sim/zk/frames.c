/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/frames.h"

#include "sim/zk/jute.h"

size_t zk_frame_open(struct sim_bytes *out)
{
	size_t frame = out->len;

	zk_put_int(out, 0);
	return frame;
}

size_t zk_frame_begin(struct sim_bytes *out, int32_t xid, int64_t zxid,
		      int32_t err)
{
	size_t frame = zk_frame_open(out);

	zk_put_int(out, xid);
	zk_put_long(out, zxid);
	zk_put_int(out, err);
	return frame;
}

void zk_frame_end(struct sim_bytes *out, size_t frame)
{
	size_t len = out->len - frame - 4;
	char *at = out->own + out->at + frame;

	for (int i = 0; i < 4; i++)
		at[i] = (char)(len >> (8 * (3 - i)));
}
