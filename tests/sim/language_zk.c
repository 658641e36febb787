/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of ZooKeeper:
 *
 *   connect MS [<s1>]   begin a session, or go on with a session of the case
 *   create|create2|createc PATH "DATA" [esc]   ephemeral, sequential, container
 *   delete|check PATH [VERSION]        set PATH "DATA" [VERSION]
 *   exists|get|ls|ls2 PATH [w]         w leaves a watch
 *   multi check|delete PATH VERSION ... set PATH VERSION "DATA"
 *   multi create PATH "DATA" e ...     of an ephemeral node
 *   sync PATH   unwatch PATH TYPE   ping   auth   close
 *
 * The paths are below a node of the case, but for paths of /zookeeper.
 * Replies:
 *
 *   session 4000 <s1>                  event TYPE PATH
 *   ZXID ok|ERROR PATH "DATA" [ CHILDREN ] STAT
 *   ZXID ok multi TYPE ERROR ... 5 0 STAT end -1 1 -1
 *
 * A zxid is told by the distance from the last zxid before the case.  STAT is
 * czxid, mzxid, pzxid, ctime, mtime, version, cversion, owner, dataLength,
 * numChildren; the times are "now" or 0.
 */
#include "sim/request_zk.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/zk/frames.h"
#include "sim/zk/jute.h"
#include "sim/zk/op.h"
#include "support/check.h"

/* ---- Replies ------------------------------------------------------------- */

static struct zk_in frame_of(const char *reply, size_t left)
{
	struct zk_in in = { (const unsigned char *)reply, left, 0 };

	return in;
}

static const char *reply_end(const char *from, const char *end)
{
	struct zk_in in = frame_of(from, (size_t)(end - from));
	int32_t len = zk_read_int(&in);

	return in.is_bad || in.left < (size_t)len ? NULL : from + 4 + len;
}

/* Below the node of the case. */
static void add_path(struct sim_bytes *out, struct zk_in *in)
{
	char path[ZK_PATH];
	const char *at = path;

	(void)zk_read_text(in, path, sizeof(path));
	if (strncmp(path, "/c", 2) == 0 && isdigit((unsigned char)path[2]))
		at = path + 2 + strspn(path + 2, "0123456789");
	sim_bytes_printf(out, " %s", *at ? at : "/");
}

static void add_data(struct sim_bytes *out, struct zk_in *in)
{
	char data[ZK_DATA];
	int32_t len = zk_read_text(in, data, sizeof(data));

	if (len < 0)
		sim_bytes_text_add(out, " none");
	else
		sim_bytes_printf(out, " \"%s\"", data);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add_children(struct sim_bytes *out, struct zk_in *in)
{
	char names[32][64];
	int32_t n = zk_read_int(in);

	if (n > 32)
		FAIL("%d children", n);
	for (int32_t i = 0; i < n; i++)
		(void)zk_read_text(in, names[i], sizeof(names[i]));
	qsort(names, (size_t)n, sizeof(names[0]), by_name);
	sim_bytes_text_add(out, " [");
	for (int32_t i = 0; i < n; i++)
		sim_bytes_printf(out, " %s", names[i]);
	sim_bytes_text_add(out, " ]");
}

/* Marks: z, t and s with 16 digits. */
static void add_stat(struct sim_bytes *out, struct zk_in *in)
{
	int64_t czxid = zk_read_long(in), mzxid = zk_read_long(in);
	int64_t ctime = zk_read_long(in), mtime = zk_read_long(in);
	int32_t version = zk_read_int(in), cversion = zk_read_int(in);
	int32_t acl_version = zk_read_int(in);
	int64_t owner = zk_read_long(in);
	int32_t len = zk_read_int(in), children = zk_read_int(in);

	(void)acl_version;
	sim_bytes_printf(out,
			 " z%016" PRIx64 " z%016" PRIx64 " z%016" PRIx64
			 " t%016" PRIx64 " t%016" PRIx64 " %d %d",
			 czxid, mzxid, zk_read_long(in), ctime, mtime, version,
			 cversion);
	if (owner == 0)
		sim_bytes_text_add(out, " 0");
	else
		sim_bytes_printf(out, " s%016" PRIx64, owner);
	sim_bytes_printf(out, " %d %d", len, children);
}

static void add_multi(struct sim_bytes *out, struct zk_in *in)
{
	int32_t type = zk_read_int(in);
	int is_end = zk_read_bool(in);

	sim_bytes_text_add(out, " multi");
	while (!is_end && !in->is_bad) {
		sim_bytes_printf(out, " %d %d", type, zk_read_int(in));
		if (type == -1)
			sim_bytes_printf(out, " %d", zk_read_int(in));
		if (type == ZK_SET)
			add_stat(out, in);
		if (type == ZK_CREATE)
			add_path(out, in);
		type = zk_read_int(in);
		is_end = zk_read_bool(in);
	}
	sim_bytes_printf(out, " end %d %d", type, is_end);
	sim_bytes_printf(out, " %d", zk_read_int(in));
}

static void add_body(struct sim_bytes *out, struct zk_in *in, int32_t xid)
{
	if (xid == ZK_CREATE || xid == ZK_CREATE2 ||
	    xid == ZK_CREATE_CONTAINER || xid == ZK_SYNC)
		add_path(out, in);
	else if (xid == ZK_GET)
		add_data(out, in);
	else if (xid == ZK_CHILDREN || xid == ZK_CHILDREN2)
		add_children(out, in);
	else if (xid == ZK_MULTI)
		add_multi(out, in);
	if (in->left >= 68)
		add_stat(out, in);
	if (in->left > 0 || in->is_bad)
		sim_bytes_printf(out, " and %zu bytes%s", in->left,
				 in->is_bad ? ", cut" : "");
}

static void session_line(struct sim_bytes *out, struct zk_in *in)
{
	int32_t ms = zk_read_int(in), len;
	int64_t id = zk_read_long(in), first, second;

	len = zk_read_int(in);
	first = zk_read_long(in);
	second = zk_read_long(in);
	if (id == 0)
		sim_bytes_printf(out, "session %d none %d", ms, len);
	else
		sim_bytes_printf(out,
				 "session %d s%016" PRIx64 " p%016" PRIx64
				 "%016" PRIx64,
				 ms, id, first, second);
}

static void line_of(struct sim_bytes *out, const char *reply)
{
	struct zk_in in = frame_of(reply, 4);
	int32_t xid, err, type;
	int64_t zxid;

	in.left = (size_t)zk_read_int(&in);
	xid = zk_read_int(&in);
	if (xid == 0) {
		session_line(out, &in);
		return;
	}
	zxid = zk_read_long(&in);
	err = zk_read_int(&in);
	if (xid == EVENT_XID) {
		type = zk_read_int(&in);
		sim_bytes_printf(out, "event %d of state %d", type,
				 zk_read_int(&in));
		add_path(out, &in);
		return;
	}
	sim_bytes_printf(out, "z%016" PRIx64, zxid);
	if (err != 0)
		sim_bytes_printf(out, " %d", err);
	else
		sim_bytes_text_add(out, " ok");
	if (err == 0 || in.left > 0)
		add_body(out, &in, xid);
}

/* ---- Marks --------------------------------------------------------------- */

/* The number of a session of the case, from 1; or 0. */
static int session_of(const struct marks *m, const char *hex)
{
	for (int n = 0; n < m->n_times; n += SESSION_TEXTS) {
		if (strncmp(m->times[n], hex, 16) == 0)
			return n / SESSION_TEXTS + 1;
	}
	return 0;
}

static void learn_session(struct marks *m, const char *hex,
			  const char *password)
{
	if (m->n_times + SESSION_TEXTS > CASE_TEXT)
		FAIL("too many sessions");
	memcpy(m->times[m->n_times++], hex, 16);
	memcpy(m->times[m->n_times++], password, 16);
	memcpy(m->times[m->n_times++], password + 16, 16);
}

static void add_mark(struct marks *m, struct sim_bytes *out, const char *at,
		     int64_t now_us)
{
	uint64_t value = strtoull(at + 1, NULL, 16);

	if (*at == 't')
		sim_bytes_text_add(out, llabs((int64_t)value - now_us / 1000) <
							7200000 ?
						"now" :
					value == 0 ? "0" :
						     "then");
	else if (*at == 's')
		sim_bytes_printf(out, "<s%d>", session_of(m, at + 1));
	else if (value == 0)
		sim_bytes_text_add(out, "0");
	else
		sim_bytes_printf(out, "%+" PRId64, (int64_t)(value - m->cas));
}

static void mark(struct marks *m, struct sim_bytes *line, int64_t now_us)
{
	struct sim_bytes out = { 0 };
	const char *at = sim_bytes_text(line);
	const char *session = strstr(at, " s"), *password = strstr(at, " p");

	if (strncmp(at, "session ", 8) == 0 && session && password &&
	    session_of(m, session + 2) == 0)
		learn_session(m, session + 2, password + 2);
	while (*at) {
		size_t digits = strspn(at + 1, "0123456789abcdef");

		if (strncmp(at, " p", 2) == 0 &&
		    strspn(at + 2, "0123456789abcdef") == 32) {
			at += 34;
		} else if (strchr("zts", *at) && digits == 16) {
			add_mark(m, &out, at, now_us);
			at += 17;
		} else {
			sim_bytes_add(&out, at++, 1);
		}
	}
	sim_bytes_free(line);
	*line = out;
}

/* ---- Cases --------------------------------------------------------------- */

static void cleaned(struct marks *m, const char *reply)
{
	struct zk_in in = frame_of(reply, 4);
	char path[ZK_PATH];

	in.left = (size_t)zk_read_int(&in);
	(void)zk_read_int(&in);
	m->cas = (uint64_t)zk_read_long(&in);
	m->n_times = 0;
	CHECK_INT(zk_read_int(&in), ==, 0);
	(void)zk_read_text(&in, path, sizeof(path));
	snprintf(m->times[CASE_TEXT], sizeof(m->times[0]), "%.16s", path);
}

static int32_t int_at(const char *reply, size_t at)
{
	struct zk_in in = frame_of(reply + at, 4);

	return zk_read_int(&in);
}

static int is_probed(const char *reply)
{
	return int_at(reply, 4) == PING_XID;
}

static int is_gone(const char *reply)
{
	return int_at(reply, 16) == ZK_E_NO_NODE;
}

static const char *const clean[] = { "case", NULL };

const struct play_language zk_language = {
	.request = zk_request,
	.reply_end = reply_end,
	.line = line_of,
	.mark = mark,
	.clean = clean,
	.cleaned = cleaned,
	.probe = "ping",
	.is_probed = is_probed,
	.exists = "exists %s",
	.is_gone = is_gone,
};
