/* SPDX-License-Identifier: Apache-2.0 */
/* inspect, list, break. */
#include <stdlib.h>
#include <string.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"

int dlki_redis_inspect(struct dlk_session *base, const struct dlk_claim *claim,
		       void (*each)(const struct dlock_party *p, void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	const struct redis_reply *reply;
	struct redis_conn *c;
	char key[136];
	struct redis_request request = {
		REDIS_INSPECT, dlki_redis_key(s, claim->key, key), NULL, 0, 0, 0
	};
	int rc = dlki_redis_ask(s, &request, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (reply->type != REDIS_ARRAY)
		return dlki_redis_nonsense(s, c, err);
	for (size_t i = 0; i < reply->len; i++) {
		struct redis_party one;

		if (!dlki_redis_party(reply->parts[i], &one))
			return dlki_redis_nonsense(s, c, err);
		each(&one.party, arg);
	}
	dlki_redis_done(s, c, 1);
	return 0;
}

enum { TOKEN_LEN = 16 };

/* The largest token of those who hold the lock now: zeroes, if nobody does. */
static int last_token(struct redis_session *s, struct redis_word key,
		      char out[TOKEN_LEN], dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_request request = { REDIS_BREAK, key, NULL, 0, 0, 0 };
	const struct redis_reply *reply;
	struct redis_conn *c;
	int rc = dlki_redis_ask(s, &request, deadline, &c, &reply, err);

	if (rc != 0)
		return rc;
	if (reply->type != REDIS_STRING || reply->len != TOKEN_LEN ||
	    strspn(reply->text, "0123456789") != TOKEN_LEN)
		return dlki_redis_nonsense(s, c, err);
	memcpy(out, reply->text, TOKEN_LEN);
	dlki_redis_done(s, c, 1);
	return 0;
}

int dlki_redis_break(struct dlk_session *base, const struct dlk_claim *claim,
		     dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	const struct redis_reply *reply;
	struct redis_conn *c;
	char key[136], token[TOKEN_LEN];
	struct redis_word arg = { token, TOKEN_LEN };
	struct redis_request request = {
		REDIS_BREAK, dlki_redis_key(s, claim->key, key), &arg, 1, 0, 0
	};
	int64_t done;
	int rc = last_token(s, request.key, token, deadline, err);

	if (rc == 0)
		rc = dlki_redis_ask(s, &request, deadline, &c, &reply, err);
	if (rc != 0)
		return rc;
	if (!dlki_redis_number(reply, 0, &done))
		return dlki_redis_nonsense(s, c, err);
	dlki_redis_done(s, c, 1);
	return 0;
}

/* ---- Which locks there are ----------------------------------------------- */

enum { ROUND = 256, KEYS_MAX = 1 << 22 };

/* The locks' keys, as between the braces. */
struct found {
	char (*v)[72];
	size_t n, room;
	size_t done; /* so many are described */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add(struct found *f, const char *key, size_t len)
{
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		char(*grown)[72] = room > KEYS_MAX ?
					   NULL :
					   realloc(f->v, room * sizeof(*grown));

		if (!grown)
			return 0;
		f->v = grown;
		f->room = room;
	}
	memcpy(f->v[f->n], key, len);
	f->v[f->n++][len] = '\0';
	return 1;
}

/* "prefix:{key}" and what is derived from it. */
static int note(struct found *f, const struct redis_reply *name,
		const char *begin, size_t begin_len, struct dlk_error *err)
{
	size_t len;

	if (name->type != REDIS_STRING ||
	    strncmp(name->text, begin, begin_len) != 0)
		return 0;
	len = strspn(name->text + begin_len,
		     "0123456789abcdefghijklmnopqrstuvwxyz");
	if (len < 2 || len >= sizeof(f->v[0]) ||
	    name->text[begin_len + len] != '}')
		return 0;
	if (!add(f, name->text + begin_len, len))
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	return 0;
}

/* One step of SCAN; the cursor is 0 again when it was the last. */
static int scan(struct redis_conn *c, struct found *f, const char *begin,
		size_t begin_len, char cursor[32], dlk_time deadline,
		struct dlk_error *err)
{
	const struct redis_reply *reply;
	struct redis_out o;
	char glob[80];
	int keep, rc;

	memcpy(glob, begin, begin_len);
	memcpy(glob + begin_len, "*", 2);
	dlki_redis_out_init(&o);
	dlki_redis_out_words(&o, 6);
	dlki_redis_out_text(&o, "SCAN");
	dlki_redis_out_text(&o, cursor);
	dlki_redis_out_text(&o, "MATCH");
	dlki_redis_out_text(&o, glob);
	dlki_redis_out_text(&o, "COUNT");
	dlki_redis_out_text(&o, "1000");
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	if (rc == 0)
		rc = dlki_redis_hear(c, &reply, deadline, err);
	if (rc != 0)
		return rc;
	if (reply->type == REDIS_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.who,
					&keep, err);
	if (reply->type != REDIS_ARRAY || reply->len != 2 ||
	    reply->parts[0]->type != REDIS_STRING ||
	    reply->parts[0]->len >= 32 || reply->parts[1]->type != REDIS_ARRAY)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s answered what we do not understand",
				c->net.who);
	memcpy(cursor, reply->parts[0]->text, reply->parts[0]->len + 1);
	reply = reply->parts[1];
	for (size_t i = 0; rc == 0 && i < reply->len; i++)
		rc = note(f, reply->parts[i], begin, begin_len, err);
	return rc;
}

static int collect(struct redis_session *s, struct redis_conn *c,
		   struct found *f, dlk_time deadline, struct dlk_error *err)
{
	char begin[136], cursor[32] = "0";
	size_t len = dlki_redis_key(s, "", begin).len - 1; /* without the '}' */
	size_t kept = 0;
	int rc;

	do {
		rc = scan(c, f, begin, len, cursor, deadline, err);
	} while (rc == 0 && strcmp(cursor, "0") != 0);
	if (rc != 0 || f->n == 0)
		return rc;
	/* SCAN may name a key twice, and a lock may have several. */
	qsort(f->v, f->n, sizeof(f->v[0]), by_name);
	for (size_t i = 1; i < f->n; i++) {
		if (strcmp(f->v[kept], f->v[i]) != 0)
			memmove(f->v[++kept], f->v[i], sizeof(f->v[0]));
	}
	f->n = kept + 1;
	return 0;
}

struct audience {
	void (*each)(const struct dlock_entry *e, void *arg);
	void *arg;
};

/* Ask for some of them, from f->done on, in one flight, and report those that
 * are in use. */
static int describe(struct redis_session *s, struct redis_conn *c,
		    struct found *f, const struct audience *to_whom,
		    dlk_time deadline, struct dlk_error *err)
{
	size_t from = f->done;
	size_t to = f->n - from > ROUND ? from + ROUND : f->n;
	const struct redis_reply *reply;
	struct dlock_entry e;
	struct redis_out o;
	char key[136], name[256];
	int keep, rc;

	dlki_redis_out_init(&o);
	for (size_t i = from; i < to; i++) {
		struct redis_request one = { REDIS_DESCRIBE,
					     dlki_redis_key(s, f->v[i], key),
					     NULL,
					     0,
					     0,
					     0 };

		dlki_redis_call(s, &o, &one, i == from);
	}
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	for (size_t i = from; rc == 0 && i < to; i++) {
		rc = dlki_redis_hear(c, &reply, deadline, err);
		if (rc != 0)
			break;
		if (reply->type == REDIS_ERROR &&
		    !dlki_redis_fault_is(reply->text, "WRONGTYPE"))
			return dlki_redis_fault(reply->text, reply->len,
						c->net.who, &keep, err);
		if (reply->type != REDIS_ERROR &&
		    dlki_redis_entry(reply, f->v[i], &e, name) == 1)
			to_whom->each(&e, to_whom->arg);
	}
	f->done = to;
	return rc;
}

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_entry *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_conn *c = (struct redis_conn *)dlki_pool_take(
		s->pool, deadline, NULL, err);
	struct audience to_whom = { each, arg };
	struct found f = { 0 };
	int rc;

	if (!c)
		return err->code;
	rc = collect(s, c, &f, deadline, err);
	while (rc == 0 && f.done < f.n)
		rc = describe(s, c, &f, &to_whom, deadline, err);
	dlki_redis_done(s, c, rc == 0);
	free(f.v);
	return rc;
}
