/* SPDX-License-Identifier: Apache-2.0 */
/* Jute, the encoding of ZooKeeper's packets: numbers with the largest byte
 * first; a text or a buffer begins with a length, -1 for no text. */
#ifndef DLOCK_SIM_ZK_JUTE_H
#define DLOCK_SIM_ZK_JUTE_H

#include <stdint.h>

#include "sim/base/bytes.h"

/* Bytes to read.  After a read beyond the end, or of a text that is longer than
 * the room, `is_bad` is set and all further reads return 0. */
struct zk_in {
	const unsigned char *at;
	size_t left;
	int is_bad;
};

int32_t zk_read_int(struct zk_in *in);
int64_t zk_read_long(struct zk_in *in);
int zk_read_bool(struct zk_in *in);

/* Read a text or buffer into `to`, with a zero behind.  Returns the length. */
int32_t zk_read_text(struct zk_in *in, char *to, size_t room);

void zk_put_int(struct sim_bytes *out, int32_t value);
void zk_put_long(struct sim_bytes *out, int64_t value);
void zk_put_bool(struct sim_bytes *out, int value);
void zk_put_text(struct sim_bytes *out, const char *bytes, int32_t len);

#endif
