/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect, break, and list. */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"
#include "backends/redis/script.h"
#include "backends/redis/ticket.h"

int dlki_redis_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	const struct redis_arg only = { "holders", 7 };
	const struct redis_reply *reply;
	struct redis_conn *c;
	char key[RD_KEY_SIZE];
	struct redis_call call = {
		.script = RD_INSPECT,
		.key = dlki_redis_key(s, request->key, key),
		.plain = dlki_redis_plain_key(s, request),
		.args = &only,
		.n_args = request->holders_only ? 1 : 0,
	};
	int rc = dlki_redis_plain_check(s, request, err);

	if (rc == 0)
		rc = dlki_redis_script_call(s, &call, deadline, &c, &reply,
					    err);
	if (rc != 0)
		return rc;
	if (reply->type != RD_ARRAY)
		return dlki_redis_conn_put_nonsense(s, c, err);
	for (size_t i = 0; i < reply->len; i++) {
		struct redis_participant one;

		if (!dlki_redis_participant(reply->parts[i], &one))
			return dlki_redis_conn_put_nonsense(s, c, err);
		each(&one.participant, arg);
	}
	dlki_redis_conn_put(s, c, 1);
	return 0;
}

enum { DIGEST_LEN = 40, SEEN_LEN = RD_TOKEN_LEN + DIGEST_LEN };

/* The holders that a break is about. */
struct seen {
	char text[SEEN_LEN]; /* the largest token, zeroes without a holder; and
			      * maybe the digest of the plain key's value */
	size_t len;
};

/* Ask with `call`, which has no arguments yet. */
static int see_holders(struct redis_session *s, struct redis_call *call,
		       struct seen *out, dlk_time deadline,
		       struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct redis_conn *c;
	int rc = dlki_redis_script_call(s, call, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (reply->type != RD_STRING ||
	    (reply->len != RD_TOKEN_LEN &&
	     !(s->plain && reply->len == SEEN_LEN)) ||
	    strspn(reply->text, "0123456789") < RD_TOKEN_LEN ||
	    strspn(reply->text, "0123456789abcdef") != reply->len)
		return dlki_redis_conn_put_nonsense(s, c, err);
	memcpy(out->text, reply->text, reply->len);
	out->len = reply->len;
	dlki_redis_conn_put(s, c, 1);
	return 0;
}

int dlki_redis_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	char key[RD_KEY_SIZE];
	struct seen seen = { .len = RD_TOKEN_LEN };
	struct redis_arg args[2] = { { seen.text, RD_TOKEN_LEN },
				     { seen.text + RD_TOKEN_LEN, 0 } };
	struct redis_call call = {
		.script = RD_BREAK,
		.key = dlki_redis_key(s, request->key, key),
		.plain = dlki_redis_plain_key(s, request),
	};
	int64_t done;
	int rc = dlki_redis_plain_check(s, request, err);

	if (rc == 0)
		rc = see_holders(s, &call, &seen, deadline, err);
	if (rc != 0)
		return rc;
	args[1].len = seen.len - RD_TOKEN_LEN;
	call.args = args;
	call.n_args = s->plain ? 2 : 1;
	return dlki_redis_script_number(s, &call, deadline, &done, err);
}

/* ---- List ---------------------------------------------------------------- */

enum { BATCH = 256, KEYS_MAX = 1 << 22 };

/* The locks' keys, what is between the braces. */
struct lock_keys {
	char (*v)[72];
	size_t n, room;
	size_t described; /* so many of them */
};

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add_key(struct lock_keys *k, const char *key, size_t len)
{
	if (k->n == k->room) {
		size_t room = k->room ? 2 * k->room : 64;
		char(*grown)[72] = room > KEYS_MAX ?
					   NULL :
					   realloc(k->v, room * sizeof(*grown));

		if (!grown)
			return 0;
		k->v = grown;
		k->room = room;
	}
	memcpy(k->v[k->n], key, len);
	k->v[k->n++][len] = '\0';
	return 1;
}

/* Of "prefix:{key}", or of a key that is derived from it. */
static int add_scanned_key(struct lock_keys *k, const struct redis_reply *found,
			   const char *begin, size_t begin_len,
			   struct dlk_error *err)
{
	size_t len;

	if (found->type != RD_STRING ||
	    strncmp(found->text, begin, begin_len) != 0)
		return 0;
	len = strspn(found->text + begin_len,
		     "0123456789abcdefghijklmnopqrstuvwxyz");
	if (len < 2 || len >= sizeof(k->v[0]) ||
	    found->text[begin_len + len] != '}')
		return 0;
	if (!add_key(k, found->text + begin_len, len))
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return 0;
}

/* One step of SCAN; the cursor is 0 again after the last. */
static int scan_step(struct redis_conn *c, struct lock_keys *k,
		     const char *begin, size_t begin_len, char cursor[32],
		     dlk_time deadline, struct dlk_error *err)
{
	char glob[80];
	const char *const argv[] = { "SCAN", cursor,  "MATCH",
				     glob,   "COUNT", "1000" };
	const struct redis_reply *reply;
	int keep, rc;

	memcpy(glob, begin, begin_len);
	memcpy(glob + begin_len, "*", 2);
	rc = dlki_redis_conn_send_argv(c, 6, argv, deadline, err);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
	if (rc != 0)
		return rc;
	if (reply->type == RD_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.peer,
					&keep, err);
	if (reply->type != RD_ARRAY || reply->len != 2 ||
	    reply->parts[0]->type != RD_STRING || reply->parts[0]->len >= 32 ||
	    reply->parts[1]->type != RD_ARRAY)
		return dlki_redis_conn_nonsense(c, err);
	memcpy(cursor, reply->parts[0]->text, reply->parts[0]->len + 1);
	reply = reply->parts[1];
	for (size_t i = 0; rc == 0 && i < reply->len; i++)
		rc = add_scanned_key(k, reply->parts[i], begin, begin_len, err);
	return rc;
}

static int scan_lock_keys(struct redis_session *s, struct redis_conn *c,
			  struct lock_keys *k, dlk_time deadline,
			  struct dlk_error *err)
{
	char begin[RD_KEY_SIZE], cursor[32] = "0";
	size_t len = dlki_redis_key(s, "", begin).len - 1; /* without the '}' */
	size_t last = 0;
	int rc;

	do {
		rc = scan_step(c, k, begin, len, cursor, deadline, err);
	} while (rc == 0 && strcmp(cursor, "0") != 0);
	if (rc != 0 || k->n == 0)
		return rc;
	/* SCAN may return a key twice, and a lock may have several keys. */
	qsort(k->v, k->n, sizeof(k->v[0]), compare_keys);
	for (size_t i = 1; i < k->n; i++) {
		if (strcmp(k->v[last], k->v[i]) != 0)
			memmove(k->v[++last], k->v[i], sizeof(k->v[0]));
	}
	k->n = last + 1;
	return 0;
}

struct list_callback {
	void (*each)(const struct dlock_lock_info *info, void *arg);
	void *arg;
};

/* Ask about the next BATCH of them, and report those that are in use. */
static int describe_batch(struct redis_session *s, struct redis_conn *c,
			  struct lock_keys *k,
			  const struct list_callback *callback,
			  dlk_time deadline, struct dlk_error *err)
{
	size_t from = k->described;
	size_t to = k->n - from > BATCH ? from + BATCH : k->n;
	const struct redis_reply *reply;
	struct dlock_lock_info info;
	struct redis_commands out;
	char key[RD_KEY_SIZE], name[256];
	int keep, rc;

	dlki_redis_commands_init(&out);
	for (size_t i = from; i < to; i++) {
		struct redis_call call = {
			.script = RD_DESCRIBE,
			.key = dlki_redis_key(s, k->v[i], key),
		};

		dlki_redis_script_encode(s, &out, &call, i == from);
	}
	rc = dlki_redis_conn_send(c, &out, deadline, err);
	dlki_redis_commands_free(&out);
	for (size_t i = from; rc == 0 && i < to; i++) {
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
		if (rc != 0)
			break;
		if (reply->type == RD_ERROR &&
		    !dlki_redis_fault_is(reply->text, "WRONGTYPE"))
			return dlki_redis_fault(reply->text, reply->len,
						c->net.peer, &keep, err);
		if (reply->type != RD_ERROR &&
		    dlki_redis_lock_info(reply, k->v[i], &info, name) == 1)
			callback->each(&info, callback->arg);
	}
	k->described = to;
	return rc;
}

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_conn *c = (struct redis_conn *)dlk_pool_take(
		s->pool, deadline, NULL, err);
	struct list_callback callback = { .each = each, .arg = arg };
	struct lock_keys k = { 0 };
	int rc;

	if (!c)
		return err->code;
	rc = scan_lock_keys(s, c, &k, deadline, err);
	while (rc == 0 && k.described < k.n)
		rc = describe_batch(s, c, &k, &callback, deadline, err);
	dlki_redis_conn_put(s, c, rc == 0);
	free(k.v);
	return rc;
}
