/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/log.h"

#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "zk/support.h"

#define CREATE 1
#define ALL 31 /* every permission */

static void put_byte(struct zk_log *log, unsigned int byte)
{
	CHECK_INT(log->len, <, sizeof(log->data));
	log->data[log->len++] = (unsigned char)byte;
}

static void put_int(struct zk_log *log, uint32_t n)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		put_byte(log, n >> shift & 0xff);
}

static void put_long(struct zk_log *log, uint64_t n)
{
	put_int(log, (uint32_t)(n >> 32));
	put_int(log, (uint32_t)n);
}

static void put_text(struct zk_log *log, const char *text)
{
	put_int(log, (uint32_t)strlen(text));
	while (*text)
		put_byte(log, (unsigned char)*text++);
}

static uint32_t adler32(const unsigned char *data, size_t len)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < len; i++) {
		a = (a + data[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

void zk_log_begin(struct zk_log *log)
{
	memset(log, 0, sizeof(*log));
	put_int(log, 0x5a4b4c47); /* ZKLG */
	put_int(log, 2);
	put_long(log, 0);
}

static void put_create(struct zk_log *log, const char *path, int32_t count)
{
	put_long(log, 0); /* session */
	put_int(log, 0);
	put_long(log, (uint64_t)++log->zxid);
	put_long(log, 0); /* time */
	put_int(log, CREATE);
	put_text(log, path);
	put_text(log, ""); /* data */
	put_int(log, 1);
	put_int(log, ALL);
	put_text(log, "world");
	put_text(log, "anyone");
	put_byte(log, 0); /* not ephemeral */
	put_int(log, (uint32_t)count);
}

void zk_log_create(struct zk_log *log, const char *path, int32_t count)
{
	struct zk_log txn = { .zxid = log->zxid };

	put_create(&txn, path, count);
	log->zxid = txn.zxid;
	put_long(log, adler32(txn.data, txn.len));
	put_int(log, (uint32_t)txn.len);
	for (size_t i = 0; i < txn.len; i++)
		put_byte(log, txn.data[i]);
	put_byte(log, 'B');
}

/* The server has seen no session, so there is no log yet. */
struct lab_server *zk_log_server(const struct zk_log *log)
{
	struct lab_server *s = server(NULL);
	char path[256];
	FILE *f;

	CHECK_INT(lab_server_stop(s), ==, 0);
	snprintf(path, sizeof(path), "%s/data/version-2/log.1", s->dir);
	f = fopen(path, "wxe");
	CHECK(f);
	CHECK_INT(fwrite(log->data, 1, log->len, f), ==, log->len);
	CHECK_INT(fclose(f), ==, 0);
	if (lab_server_restart(s, true) < 0)
		FAIL("%s", lab_errmsg());
	return s;
}

/* The directories are no containers, so they stay. */
struct lab_server *zk_log_old_server(const char *dir)
{
	struct zk_log log;
	char junk[100];

	zk_log_begin(&log);
	zk_log_create(&log, "/dlock", 1);
	zk_log_create(&log, dir, 1);
	snprintf(junk, sizeof(junk), "%s/junk", dir);
	zk_log_create(&log, junk, INT32_MAX - 3);
	return zk_log_server(&log);
}
