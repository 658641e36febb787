/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each write to the node `tokens` makes an anchor (anchor.h): the write's own
 * transaction, worth the leader's time.  A token is the worth of the
 * transaction that created the claim's node, by the last anchor before the
 * transaction.
 *
 * So all clients must know the same anchors.  A client reads the node with a
 * watch.  A session hears of a change before it hears of any later event: if
 * the watch has not fired when the answer to a creation is there, then there
 * was no other anchor before the creation.  If the watch has fired, the client
 * reads the node again, which names the last two anchors.  So a grant reads no
 * node while no client makes an anchor, and a waiter has a token once it is in
 * the queue.
 *
 * A write names the previous anchor, and is conditional on the version of the
 * node it was read from.  So anchors never go down, whatever clocks do.
 *
 * A client makes an anchor with the first attempt on a connection, and before
 * an attempt if the last anchor is old.
 */
#include "backends/zk/tokens.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/data.h"
#include "backends/zk/queue.h"
#include "backends/zk/root.h"
#include "backends/zk/session.h"

#include <stdio.h>
#include <string.h>

#define NODE "tokens"
#define TRIES 8 /* others may write or delete the node */

/* An anchor ages for as long; if a write would cost more than a fiftieth of the
 * time, for up to a second. */
#define AGE_NS (100 * DLK_MS)
#define MOST_AGE_NS (1000 * DLK_MS)
#define COST 50

static void node_path(const struct zk_session *s, char path[ZK_PATH_SIZE])
{
	dlki_zk_path(path, s->config.base, NODE);
}

static int is_known(const struct zk_session *s)
{
	return s->tokens.known && s->tokens.connects == s->connects;
}

void dlki_zk_tokens_down(struct zk_session *s)
{
	s->tokens.known = 0;
}

/* ---- Reading ------------------------------------------------------------- */

static void on_change(zhandle_t *zh, int type, int state, const char *path,
		      void *session)
{
	struct zk_session *s = session;

	(void)zh;
	(void)state;
	(void)path;
	if (type == ZOO_SESSION_EVENT)
		return;
	s->tokens.known = 0;
	s->tokens.born = dlk_now();
}

static int read_anchor(const struct zk_call *call, struct zk_anchor *out)
{
	return dlki_zk_anchor_parse(call->data ? call->data : "", out);
}

/* 0: no anchor, and `out` is unchanged. */
static int read_scale(const struct zk_call *call, struct zk_scale *out)
{
	struct zk_anchor before;

	if (call->rc != ZOK || !read_anchor(call, &before))
		return 0;
	out->now = dlki_zk_anchor_next(before, call->stat.mzxid,
				       call->stat.mtime);
	out->before = before;
	return 1;
}

/* When this comes, the watch is set, and has not fired. */
static void on_read(struct zk_session *s, struct zk_call *call)
{
	struct zk_tokens *k = &s->tokens;

	k->missing_on = call->rc == ZNONODE ? s->connects : 0;
	if (!read_scale(call, &k->last))
		return;
	k->version = call->stat.version;
	k->known = 1;
	k->connects = s->connects;
}

struct zk_call *dlki_zk_tokens_ask(struct zk_session *s)
{
	char path[ZK_PATH_SIZE];

	node_path(s, path);
	return dlki_zk_get_watched(s, path, on_change, on_read);
}

static int judge_answer(const struct zk_call *call, struct dlk_error *err)
{
	struct zk_anchor before;
	int rc = dlki_zk_reason(call, "reading", err);

	if (rc == 0 && !read_anchor(call, &before))
		rc = dlk_fail(err, DLOCK_EPROTO,
			      "%s says nothing that dlock wrote: delete it, "
			      "and tokens go on from the servers' clock",
			      call->path);
	return rc;
}

/* An anchor was made on the connection, by a request begun at `began`. */
static void note_raised(struct zk_session *s, uint64_t connects, dlk_time began)
{
	struct zk_tokens *k = &s->tokens;

	k->raised_on = connects;
	k->born = began;
	k->age = (dlk_now() - began) * COST;
	if (k->age < AGE_NS)
		k->age = AGE_NS;
	if (k->age > MOST_AGE_NS)
		k->age = MOST_AGE_NS;
}

/* The base need not be there either.  0: the base may be there now. */
static int judge_making(struct zk_session *s, const struct zk_call *base,
			const struct zk_call *node, dlk_time deadline,
			struct dlk_error *err)
{
	if (base && base->rc == ZNONODE)
		return dlki_zk_root_make(s, deadline, err);
	if (node && node->rc == ZNODEEXISTS)
		return 0;
	if (node && node->rc == ZNONODE && base && base->rc != ZNODEEXISTS)
		return dlki_zk_reason(base, "making", err);
	if (node && node->rc == ZNONODE)
		return 0; /* reaped meanwhile */
	return dlki_zk_reason(node, "making", err);
}

/* Make the node, and read it.  The new node has our known anchor, if any, and
 * is an anchor itself. */
static int make_node(struct zk_session *s, dlk_time deadline,
		     struct dlk_error *err)
{
	uint64_t connects = s->connects;
	dlk_time began = dlk_now();
	struct zk_call *calls[3];
	char path[ZK_PATH_SIZE], text[ZK_ANCHOR_SIZE];
	int rc;

	node_path(s, path);
	dlki_zk_anchor_print(s->tokens.last.now, text);
	calls[0] = dlki_zk_create(s, s->config.base, "", 0, ZOO_CONTAINER);
	calls[1] = dlki_zk_create(s, path, text, strlen(text), 0);
	calls[2] = dlki_zk_tokens_ask(s);
	dlki_zk_wait(s, calls, 3, deadline);
	rc = judge_making(s, calls[0], calls[1], deadline, err);
	if (rc == 0 && calls[1] && calls[1]->rc == ZOK)
		note_raised(s, connects, began);
	dlki_zk_drop(calls, 3);
	return rc;
}

static int read_node_once(struct zk_session *s, dlk_time deadline,
			  struct dlk_error *err)
{
	struct zk_call *call;
	int rc;

	if (s->tokens.missing_on == s->connects)
		return make_node(s, deadline, err);
	call = dlki_zk_tokens_ask(s);
	dlki_zk_wait(s, &call, 1, deadline);
	rc = call && call->rc == ZNONODE ? 0 : judge_answer(call, err);
	dlki_zk_drop(&call, 1);
	return rc;
}

static int read_node(struct zk_session *s, dlk_time deadline,
		     struct dlk_error *err)
{
	for (int i = 0; i < TRIES; i++) {
		int rc = read_node_once(s, deadline, err);

		if (rc != 0 || is_known(s))
			return rc;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%.150s/" NODE " changes all the time", s->config.base);
}

/* ---- Writing ------------------------------------------------------------- */

static int is_young(const struct zk_session *s)
{
	const struct zk_tokens *k = &s->tokens;

	return k->raised_on == s->connects && dlk_now() - k->born < k->age;
}

static void note_denied(struct zk_session *s, const char *path)
{
	if (!s->tokens.denied && s->core)
		dlk_log(s->core, 1,
			"%.160s may not be written: its access list does not "
			"allow it; tokens rise, but do not follow the time",
			path);
	s->tokens.denied = 1;
}

void dlki_zk_tokens_raise(struct zk_session *s, struct zk_raise *r)
{
	struct zk_tokens *k = &s->tokens;
	char path[ZK_PATH_SIZE], text[ZK_ANCHOR_SIZE];

	r->connects = s->connects;
	r->began = dlk_now();
	node_path(s, path);
	dlki_zk_anchor_print(k->last.now, text);
	r->calls[0] = dlki_zk_set(s, path, text, strlen(text), k->version);
	r->calls[1] = dlki_zk_tokens_ask(s);
}

/* An anchor made by another client meanwhile is as good. */
int dlki_zk_tokens_raised(struct zk_session *s, const struct zk_raise *r,
			  struct zk_scale *read, struct dlk_error *err)
{
	const struct zk_call *set = r->calls[0];
	int rc = 0;

	if (set && set->rc == ZNOAUTH)
		note_denied(s, set->path);
	if (!set || (set->rc != ZBADVERSION && set->rc != ZNONODE &&
		     set->rc != ZNOAUTH))
		rc = dlki_zk_reason(set, "writing", err);
	if (r->calls[1])
		read_scale(r->calls[1], read);
	dlki_zk_drop(r->calls, 2);
	if (rc != 0)
		return rc;
	note_raised(s, r->connects, r->began);
	return 0;
}

static int raise_anchor(struct zk_session *s, dlk_time deadline,
			struct dlk_error *err)
{
	struct zk_scale ignored;
	struct zk_raise r;

	dlki_zk_tokens_raise(s, &r);
	dlki_zk_wait(s, r.calls, 2, deadline);
	return dlki_zk_tokens_raised(s, &r, &ignored, err);
}

int dlki_zk_tokens_known(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	return is_known(s) ? 0 : read_node(s, deadline, err);
}

int dlki_zk_tokens_ready(struct zk_session *s, dlk_time deadline,
			 struct dlk_error *err)
{
	for (int i = 0; i < TRIES; i++) {
		int rc = dlki_zk_tokens_known(s, deadline, err);

		if (rc == 0 && is_young(s))
			return 0;
		if (rc == 0)
			rc = raise_anchor(s, deadline, err);
		if (rc != 0)
			return rc;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%.150s/" NODE " changes all the time", s->config.base);
}

/* ---- A ticket's token ---------------------------------------------------- */

int64_t dlki_zk_tokens_above(const struct zk_session *s)
{
	return s->tokens.last.now.us - s->tokens.last.now.zxid;
}

void dlki_zk_tokens_tell(struct zk_session *s, struct zk_ticket *t,
			 int64_t ctime_ms)
{
	struct zk_tokens *k = &s->tokens;
	int64_t late_us;

	t->token = is_known(s) ?
			   dlki_zk_anchor_token(k->last.now, k->last.before,
						t->czxid) :
			   0;
	late_us = dlki_zk_anchor_clock(ctime_ms) - (int64_t)t->token;
	if (t->token != 0 && late_us > k->age / 1000)
		k->raised_on = 0;
	if (t->token != 0 && (int64_t)t->token - t->czxid != t->above) {
		t->above = (int64_t)t->token - t->czxid;
		dlki_zk_data_write(s, t);
	}
}

int dlki_zk_tokens_settle(struct zk_session *s, struct zk_ticket *t,
			  dlk_time deadline, struct dlk_error *err)
{
	int rc = dlki_zk_tokens_known(s, deadline, err);

	if (rc != 0)
		return rc;
	dlki_zk_tokens_tell(s, t, 0);
	if (t->token == 0)
		s->tokens.raised_on = 0;
	if (t->token == 0 && s->tokens.denied)
		return dlk_fail(err, DLOCK_EDENIED,
				"no token, because %.150s/" NODE " may not be "
				"written: its access list does not allow it",
				s->config.base);
	return 0;
}

struct zk_scale dlki_zk_tokens_scale(const struct zk_session *s)
{
	const struct zk_tokens *k = &s->tokens;

	return k->connects == s->connects ? k->last : (struct zk_scale){ 0 };
}

uint64_t dlki_zk_tokens_spare(const struct zk_scale *scale,
			      const struct zk_ticket *t, int64_t next)
{
	uint64_t last = (uint64_t)scale->now.us, first_used;

	if (scale->now.zxid <= t->czxid)
		return 0;
	if (next == 0)
		return last;
	first_used = dlki_zk_anchor_token(scale->now, scale->before, next);
	if (first_used == 0)
		return 0;
	return first_used <= last ? first_used - 1 : last;
}
