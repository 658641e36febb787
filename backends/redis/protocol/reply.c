/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/reply.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/digits.h"
#include "core/base/error.h"

/* hiredis 1.0 counts parts in size_t. */
#if HIREDIS_MAJOR >= 1
typedef size_t parts_t;
#else
typedef int parts_t;
#endif

enum { BLOCK = 4096 };

struct redis_block {
	struct redis_block *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

/* Refuse a reply that is too large.  hiredis then reports a lack of memory,
 * real or not; `refused` tells the two apart. */
static void *refuse_too_large(struct redis_reader *r)
{
	r->refused = 1;
	return NULL;
}

static void *alloc_in_block(struct redis_reader *r, size_t n)
{
	struct redis_block *b = r->current;
	size_t size = n > BLOCK ? n : BLOCK;
	void *out;

	n = (n + 15) & ~(size_t)15;
	if (n > RD_REPLY_MAX - r->built)
		return refuse_too_large(r);
	if (!b || b->size - b->used < n) {
		struct redis_block *fresh = malloc(sizeof(*fresh) + size + 16);

		if (!fresh)
			return NULL;
		fresh->next = NULL;
		fresh->used = 0;
		fresh->size = size + 16;
		if (b)
			b->next = fresh;
		else
			r->first = fresh;
		r->current = b = fresh;
	}
	out = b->bytes + b->used;
	b->used += n;
	r->built += n;
	return out;
}

/* Free the reply, but for the first block, which is enough for most replies. */
static void free_reply(struct redis_reader *r)
{
	struct redis_block *b = r->first ? r->first->next : NULL;

	while (b) {
		struct redis_block *next = b->next;

		free(b);
		b = next;
	}
	if (r->first) {
		r->first->next = NULL;
		r->first->used = 0;
	}
	r->current = r->first;
	r->built = 0;
	r->whole = 0;
}

/* ---- Callbacks of hiredis ------------------------------------------------ */

static struct redis_reply *new_reply(const redisReadTask *task,
				     enum redis_type type)
{
	struct redis_reply *n = alloc_in_block(task->privdata, sizeof(*n));

	if (!n)
		return NULL;
	memset(n, 0, sizeof(*n));
	n->type = type;
	if (task->parent) {
		struct redis_reply *parent = task->parent->obj;

		parent->parts[task->idx] = n;
	}
	return n;
}

static void *on_string(const redisReadTask *task, char *text, size_t len)
{
	enum redis_type type = RD_ODD;
	struct redis_reply *n;
	char *copy;

	if (task->type == REDIS_REPLY_STRING ||
	    task->type == REDIS_REPLY_STATUS)
		type = RD_STRING;
	else if (task->type == REDIS_REPLY_ERROR)
		type = RD_ERROR;
	copy = len < RD_REPLY_MAX ? alloc_in_block(task->privdata, len + 1) :
				    refuse_too_large(task->privdata);
	n = copy ? new_reply(task, type) : NULL;
	if (!n)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	n->text = copy;
	n->len = len;
	return n;
}

static void *on_array(const redisReadTask *task, parts_t parts)
{
	enum redis_type type = task->type == REDIS_REPLY_ARRAY ? RD_ARRAY :
								 RD_ODD;
	size_t many = parts > 0 ? (size_t)parts : 0;
	struct redis_reply *n;

	if (many > RD_REPLY_MAX / sizeof(struct redis_reply *))
		return refuse_too_large(task->privdata);
	n = new_reply(task, type);
	if (!n || many == 0)
		return n;
	n->parts = alloc_in_block(task->privdata,
				  many * sizeof(struct redis_reply *));
	if (!n->parts)
		return NULL;
	memset(n->parts, 0, many * sizeof(struct redis_reply *));
	n->len = many;
	return n;
}

static void *on_integer(const redisReadTask *task, long long number)
{
	struct redis_reply *n = new_reply(task, RD_INTEGER);

	if (n)
		n->number = number;
	return n;
}

static void *on_nil(const redisReadTask *task)
{
	return new_reply(task, RD_NIL);
}

static void on_free(void *object)
{
	(void)object; /* the object is in a block */
}

#if HIREDIS_MAJOR >= 1
static void *on_double(const redisReadTask *task, double number, char *text,
		       size_t len)
{
	(void)number;
	(void)text;
	(void)len;
	return new_reply(task, RD_ODD);
}

static void *on_bool(const redisReadTask *task, int truth)
{
	(void)truth;
	return new_reply(task, RD_ODD);
}
#endif

static redisReplyObjectFunctions functions = {
	.createString = on_string,
	.createArray = on_array,
	.createInteger = on_integer,
	.createNil = on_nil,
	.freeObject = on_free,
#if HIREDIS_MAJOR >= 1
	.createDouble = on_double,
	.createBool = on_bool,
#endif
};

/* ---- The reader ---------------------------------------------------------- */

int dlki_redis_reader_init(struct redis_reader *r, struct dlk_error *err)
{
	memset(r, 0, sizeof(*r));
	r->hiredis = redisReaderCreateWithFunctions(&functions);
	if (!r->hiredis)
		return dlki_nomem(err);
	r->hiredis->privdata = r;
	return 0;
}

void dlki_redis_reader_free(struct redis_reader *r)
{
	if (r->hiredis)
		redisReaderFree(r->hiredis);
	r->hiredis = NULL;
	free_reply(r);
	free(r->first);
	r->first = r->current = NULL;
}

/* Nothing of a reply, and no error, is in hiredis. */
static int is_empty(const struct redis_reader *r)
{
	return r->fed == 0 && r->hiredis->err == 0 &&
	       r->hiredis->pos == r->hiredis->len;
}

/* Is it a number or a short text, and nothing else?  What hiredis would refuse
 * is left to it. */
static int take_brief(struct redis_reader *r, const char *bytes, size_t n)
{
	const char *end, *at;
	uint64_t number;

	if (n < 4 || n > sizeof(r->brief_text) ||
	    (bytes[0] != ':' && bytes[0] != '$') ||
	    memcmp(bytes + n - 2, "\r\n", 2) != 0)
		return 0;
	memcpy(r->brief_text, bytes, n);
	end = r->brief_text + n - 2;
	r->brief_text[n - 2] = '\0';
	at = dlki_digits_read(r->brief_text + 1, &number);
	if (at == r->brief_text + 1 || number > INT64_MAX ||
	    (bytes[1] == '0' && at != r->brief_text + 2))
		return 0;
	r->brief = (struct redis_reply){ .type = RD_INTEGER,
					 .number = (long long)number };
	if (bytes[0] == ':')
		return at == end;
	r->brief = (struct redis_reply){ .type = RD_STRING,
					 .text = at + 2,
					 .len = (size_t)number };
	return memcmp(at, "\r\n", 2) == 0 && number == (uint64_t)(end - at - 2);
}

static int fail_too_large(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EPROTO, "a reply of over %zu MiB",
			RD_REPLY_MAX >> 20);
}

int dlki_redis_reader_feed(struct redis_reader *r, const char *bytes, size_t n,
			   struct dlk_error *err)
{
	if (!r->has_brief && is_empty(r) && take_brief(r, bytes, n)) {
		r->has_brief = 1;
		return 0;
	}
	if (r->fed == 0) {
		size_t some = n < sizeof(r->began) ? n : sizeof(r->began) - 1;

		memcpy(r->began, bytes, some);
		r->began[some] = '\0';
	}
	r->fed += n;
	if (r->fed > RD_REPLY_MAX)
		return fail_too_large(err);
	if (redisReaderFeed(r->hiredis, bytes, n) != REDIS_OK)
		return dlki_nomem(err);
	return 0;
}

int dlki_redis_reader_next(struct redis_reader *r,
			   const struct redis_reply **out,
			   struct dlk_error *err)
{
	void *reply = NULL;

	if (r->has_brief) {
		r->has_brief = 0;
		*out = &r->brief;
		return 1;
	}
	if (r->whole)
		free_reply(r);
	if (is_empty(r))
		return 0;
	if (redisReaderGetReply(r->hiredis, &reply) != REDIS_OK &&
	    r->hiredis->err == REDIS_ERR_OOM)
		return r->refused ? fail_too_large(err) : dlki_nomem(err);
	if (r->hiredis->err != 0)
		return dlk_fail(err, DLOCK_EPROTO,
				"this is no Redis server (%.60s)",
				r->hiredis->errstr);
	if (!reply)
		return 0;
	r->whole = 1;
	r->fed = 0;
	*out = reply;
	return 1;
}
