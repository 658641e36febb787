/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/zk/jute.h"

#include <string.h>

static uint64_t read_bytes(struct zk_in *in, size_t n)
{
	uint64_t value = 0;

	if (in->is_bad || in->left < n) {
		in->is_bad = 1;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		value = value << 8 | in->at[i];
	in->at += n;
	in->left -= n;
	return value;
}

int32_t zk_read_int(struct zk_in *in)
{
	return (int32_t)(uint32_t)read_bytes(in, 4);
}

int64_t zk_read_long(struct zk_in *in)
{
	return (int64_t)read_bytes(in, 8);
}

int zk_read_bool(struct zk_in *in)
{
	return read_bytes(in, 1) != 0;
}

int32_t zk_read_text(struct zk_in *in, char *to, size_t room)
{
	int32_t len = zk_read_int(in);

	*to = '\0';
	if (len <= 0 || in->is_bad)
		return len;
	if ((size_t)len >= room || in->left < (size_t)len) {
		in->is_bad = 1;
		return 0;
	}
	memcpy(to, in->at, (size_t)len);
	to[len] = '\0';
	in->at += len;
	in->left -= (size_t)len;
	return len;
}

static void put_bytes(struct sim_bytes *out, uint64_t value, int n)
{
	while (n-- > 0) {
		unsigned char byte = (unsigned char)(value >> (8 * n));

		sim_bytes_add(out, &byte, 1);
	}
}

void zk_put_int(struct sim_bytes *out, int32_t value)
{
	put_bytes(out, (uint32_t)value, 4);
}

void zk_put_long(struct sim_bytes *out, int64_t value)
{
	put_bytes(out, (uint64_t)value, 8);
}

void zk_put_bool(struct sim_bytes *out, int value)
{
	put_bytes(out, value != 0, 1);
}

void zk_put_text(struct sim_bytes *out, const char *bytes, int32_t len)
{
	zk_put_int(out, len);
	if (len > 0)
		sim_bytes_add(out, bytes, (size_t)len);
}
