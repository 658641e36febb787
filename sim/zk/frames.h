/* SPDX-License-Identifier: Apache-2.0 */
/* Packets as they travel: a length of four bytes, and so many bytes. */
#ifndef DLOCK_SIM_ZK_FRAMES_H
#define DLOCK_SIM_ZK_FRAMES_H

#include <stdint.h>

#include "sim/base/bytes.h"

/* Append a reply's head.  The body goes behind; zk_frame_end() takes the
 * result of zk_frame_begin(), and completes the length. */
size_t zk_frame_begin(struct sim_bytes *out, int32_t xid, int64_t zxid,
		      int32_t err);
size_t zk_frame_open(struct sim_bytes *out); /* without a head */
void zk_frame_end(struct sim_bytes *out, size_t frame);

#endif
