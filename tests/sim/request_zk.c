/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/request_zk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"
#include "sim/zk/frames.h"
#include "sim/zk/jute.h"
#include "sim/zk/op.h"
#include "support/check.h"

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

/* The data is word `n`, the flags are the next. */
static void put_create(struct sim_bytes *out, const struct words *w, size_t n)
{
	const char *flags = word(w, n + 1, "");

	put_text(out, word(w, n, ""));
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
	return strcmp(word, "check") == 0  ? ZK_CHECK :
	       strcmp(word, "set") == 0    ? ZK_SET :
	       strcmp(word, "create") == 0 ? ZK_CREATE :
					     ZK_DELETE;
}

/* The words of a part are the verb, a path and a version; of a set also the
 * data; of a create the data and the flags behind the path. */
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
		if (type == ZK_CREATE)
			put_create(out, w, at + 2);
		else
			zk_put_int(out, number(w, at + 2, "-1"));
		at += type == ZK_SET || type == ZK_CREATE ? 4 : 3;
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
		put_create(out, w, 2);
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
	put_create(out, w, 2);
}

void zk_request(const struct marks *m, struct sim_bytes *out, const char *line)
{
	struct words w = words_split(line);
	size_t frame = zk_frame_open(out), i = 0;
	const char *verb = word(&w, 0, "");

	if (strcmp(verb, "connect") == 0) {
		put_connect(m, out, &w);
	} else if (strcmp(verb, "case") == 0) {
		zk_put_int(out, ZK_CREATE);
		zk_put_int(out, ZK_CREATE);
		put_case(out, &w);
	} else {
		while (strcmp(requests[i].word, verb) != 0) {
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
