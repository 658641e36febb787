/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of ZooKeeper:
 *
 *   connect MS [<s1>]   begin a session, or go on with a session of the case
 *   create|create2|createc PATH "DATA" [esc]   ephemeral, sequential, container
 *   delete|check PATH [VERSION]        set PATH "DATA" [VERSION]
 *   exists|get|ls|ls2 PATH [w]         w leaves a watch
 *   multi check|delete PATH VERSION ... set PATH VERSION "DATA"
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
#include "sim/language.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"
#include "sim/zk/frames.h"
#include "sim/zk/jute.h"
#include "sim/zk/op.h"
#include "support/check.h"

enum { CLOSE_XID = 50, PING_XID = -2, AUTH_XID = -4, EVENT_XID = -1 };

/* A session is three of the marks' texts: the number, and the password's
 * halves.  The last text is the node of the case. */
enum { SESSION_TEXTS = 3, CASE_TEXT = MARK_TIMES - 1 };

/* ---- Requests ------------------------------------------------------------ */

static const struct {
	const char *word;
	int32_t xid;
	enum zk_type type;
} requests[] = {
	{ "create", ZK_CREATE, ZK_CREATE },
	{ "create2", ZK_CREATE2, ZK_CREATE2 },
	{ "createc", ZK_CREATE_CONTAINER, ZK_CREATE_CONTAINER },
	{ "delete", ZK_DELETE, ZK_DELETE },
	{ "check", ZK_MULTI, ZK_MULTI },
	{ "multi", ZK_MULTI, ZK_MULTI },
	{ "set", ZK_SET, ZK_SET },
	{ "exists", ZK_EXISTS, ZK_EXISTS },
	{ "get", ZK_GET, ZK_GET },
	{ "ls", ZK_CHILDREN, ZK_CHILDREN },
	{ "ls2", ZK_CHILDREN2, ZK_CHILDREN2 },
	{ "sync", ZK_SYNC, ZK_SYNC },
	{ "unwatch", ZK_REMOVE_WATCHES, ZK_REMOVE_WATCHES },
	{ "ping", PING_XID, ZK_PING },
	{ "auth", AUTH_XID, ZK_AUTH },
	{ "close", CLOSE_XID, ZK_END_SESSION },
};

static const char *word(const struct words *w, size_t n, const char *preset)
{
	return n < w->n ? sim_bytes_text(&w->v[n]) : preset;
}

static int32_t number(const struct words *w, size_t n, const char *preset)
{
	return (int32_t)strtol(word(w, n, preset), NULL, 10);
}

static void put_text(struct sim_bytes *out, const char *text)
{
	zk_put_text(out, text, (int32_t)strlen(text));
}

static void put_nth_path(const struct marks *m, struct sim_bytes *out,
			 const struct words *w, size_t n)
{
	const char *path = word(w, n, "/");
	char all[ZK_PATH];
	int is_apart = strncmp(path, "/zookeeper", 10) == 0 || *path != '/';

	snprintf(all, sizeof(all), "%s%s", is_apart ? "" : m->times[CASE_TEXT],
		 is_apart || path[1] ? path : "");
	put_text(out, all);
}

static void put_path(const struct marks *m, struct sim_bytes *out,
		     const struct words *w)
{
	put_nth_path(m, out, w, 1);
}

static void put_connect(const struct marks *m, struct sim_bytes *out,
			const struct words *w)
{
	int n = (atoi(word(w, 2, "<s0>") + 2) - 1) * SESSION_TEXTS;
	int64_t id = n < 0 ? 0 : (int64_t)strtoull(m->times[n], NULL, 16);

	zk_put_int(out, 0);
	zk_put_long(out, 0);
	zk_put_int(out, number(w, 1, "30000"));
	zk_put_long(out, id);
	zk_put_int(out, 16);
	for (int i = 0; i < 2; i++)
		zk_put_long(out, n < 0 ? 0 :
					 (int64_t)strtoull(m->times[n + 1 + i],
							   NULL, 16));
	zk_put_bool(out, 0);
}

static void put_create(struct sim_bytes *out, const struct words *w)
{
	const char *flags = word(w, 3, "");

	put_text(out, word(w, 2, ""));
	zk_put_int(out, 1);
	zk_put_int(out, 31);
	put_text(out, "world");
	put_text(out, "anyone");
	zk_put_int(out, (strchr(flags, 'e') ? ZK_EPHEMERAL : 0) |
				(strchr(flags, 's') ? ZK_SEQUENTIAL : 0) |
				(strchr(flags, 'c') ? ZK_CONTAINER : 0));
}

static void put_auth(struct sim_bytes *out)
{
	zk_put_int(out, 0);
	put_text(out, "digest");
	put_text(out, "user:password");
}

static enum zk_type part_type(const char *word)
{
	return strcmp(word, "check") == 0 ? ZK_CHECK :
	       strcmp(word, "set") == 0   ? ZK_SET :
					    ZK_DELETE;
}

/* The words of a part are the verb, a path and a version; of a set also the
 * data. */
static void put_multi(const struct marks *m, struct sim_bytes *out,
		      const struct words *w)
{
	size_t at = strcmp(word(w, 0, ""), "multi") == 0;

	do {
		enum zk_type type = part_type(word(w, at, ""));

		zk_put_int(out, (int32_t)type);
		zk_put_bool(out, 0);
		zk_put_int(out, -1);
		put_nth_path(m, out, w, at + 1);
		if (type == ZK_SET)
			put_text(out, word(w, at + 3, ""));
		zk_put_int(out, number(w, at + 2, "-1"));
		at += type == ZK_SET ? 4 : 3;
	} while (at < w->n);
	zk_put_int(out, -1);
	zk_put_bool(out, 1);
	zk_put_int(out, -1);
}

static void put_body(const struct marks *m, struct sim_bytes *out,
		     const struct words *w, enum zk_type type)
{
	if (type == ZK_PING || type == ZK_END_SESSION)
		return;
	if (type == ZK_MULTI)
		put_multi(m, out, w);
	else if (type == ZK_AUTH)
		put_auth(out);
	else
		put_path(m, out, w);
	if (type == ZK_CREATE || type == ZK_CREATE2 ||
	    type == ZK_CREATE_CONTAINER)
		put_create(out, w);
	else if (type == ZK_DELETE)
		zk_put_int(out, number(w, 2, "-1"));
	else if (type == ZK_EXISTS || type == ZK_GET || type == ZK_CHILDREN ||
		 type == ZK_CHILDREN2)
		zk_put_bool(out, *word(w, 2, "") == 'w');
	else if (type == ZK_REMOVE_WATCHES)
		zk_put_int(out, number(w, 2, "3"));
	if (type == ZK_SET) {
		put_text(out, word(w, 2, ""));
		zk_put_int(out, number(w, 3, "-1"));
	}
}

/* "case" makes the node of the next case. */
static void put_case(struct sim_bytes *out, const struct words *w)
{
	static int cases;
	char path[ZK_PATH];

	snprintf(path, sizeof(path), "/c%d", ++cases);
	put_text(out, path);
	put_create(out, w);
}

static void request(const struct marks *m, struct sim_bytes *out,
		    const char *line)
{
	struct words w = words_split(line);
	size_t frame = zk_frame_open(out), i = 0;
	const char *what = word(&w, 0, "");

	if (strcmp(what, "connect") == 0) {
		put_connect(m, out, &w);
	} else if (strcmp(what, "case") == 0) {
		zk_put_int(out, ZK_CREATE);
		zk_put_int(out, ZK_CREATE);
		put_case(out, &w);
	} else {
		while (strcmp(requests[i].word, what) != 0) {
			if (++i == sizeof(requests) / sizeof(*requests))
				FAIL("no such request: %s", line);
		}
		zk_put_int(out, requests[i].xid);
		zk_put_int(out, (int32_t)requests[i].type);
		put_body(m, out, &w, requests[i].type);
	}
	zk_frame_end(out, frame);
	words_free(&w);
}

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
	.request = request,
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
