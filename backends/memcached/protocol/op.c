/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/op.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "backends/memcached/protocol/uri.h"
#include "core/base/digits.h"

#define MOST_S UINT32_MAX /* the most that a server can count */
#define FULL "SERVER_ERROR out of memory"

struct memc_op dlki_memc_op(enum memc_verb verb,
			    const struct dlk_request *request, int slot)
{
	return (struct memc_op){
		.verb = verb,
		.request = request,
		.slot = slot,
		.limit = request->limit,
	};
}

int dlki_memc_op_is_store(const struct memc_op *op)
{
	return op->verb == MEMC_ADD || op->verb == MEMC_SWAP;
}

int dlki_memc_op_was_stored(const struct memc_op *op)
{
	return dlki_memc_op_is_store(op) && op->answer == MEMC_DONE;
}

/* ---- Requests ------------------------------------------------------------ */

static void put_bytes(struct memc_out *out, const char *bytes, size_t len)
{
	assert(len <= sizeof(out->bytes) - out->len);
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

/* Print by hand: vsnprintf() took longer than the rest of a request's work. */
void dlki_memc_put(struct memc_out *out, const char *fmt, ...)
{
	char digits[DLKI_DIGITS];
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	for (;;) {
		size_t len = (size_t)(strchrnul(fmt, '%') - fmt);

		put_bytes(out, fmt, len);
		fmt += len;
		if (*fmt++ == '\0')
			break;
		if (*fmt == 's') {
			text = va_arg(ap, const char *);
			put_bytes(out, text, strlen(text));
			fmt++;
		} else {
			put_bytes(out, digits,
				  dlki_digits(digits, va_arg(ap, uint64_t)));
			fmt += strlen(PRIu64);
		}
	}
	va_end(ap);
}

/* A mark stored again ends no sooner than before. */
static int64_t lifetime_s(const struct memc_run *run, const struct memc_op *op)
{
	if (op->slot != MEMC_MARK && op->slot != MEMC_WISH)
		return run->lives.exptime_s;
	if (op->slot == MEMC_MARK && op->verb == MEMC_SWAP &&
	    op->item.until_s > run->uptime_s + (uint64_t)run->lives.mark_s)
		return (int64_t)(op->item.until_s - run->uptime_s);
	return run->lives.mark_s;
}

/* Print a mark, which may live longer than the text says: the server has
 * counted on since. */
static size_t print_mark(const struct memc_run *run, const struct memc_op *op,
			 char text[MEMC_TEXT_SIZE])
{
	struct memc_item mark = op->item;

	if (op->verb == MEMC_ADD) {
		memcpy(mark.owner, op->request->owner, sizeof(mark.owner));
		mark.add = op->add;
		mark.limit = op->limit;
	}
	return dlki_memc_mark_print(
		text, &mark, run->uptime_s + (uint64_t)lifetime_s(run, op));
}

static uint32_t limit_of(const struct memc_op *op)
{
	if (op->slot != MEMC_GATE || op->request->kind == DLK_SEMAPHORE)
		return op->limit;
	return op->has_lock ? MEMC_HAS : MEMC_YIELDS;
}

static void put_item(struct memc_out *out, const struct memc_run *run,
		     const struct memc_op *op, const char *key)
{
	uint64_t exptime_s = (uint64_t)lifetime_s(run, op);
	char text[MEMC_TEXT_SIZE];
	uint64_t len = op->slot == MEMC_MARK ?
			       print_mark(run, op, text) :
			       dlki_memc_item_print(text, op->request,
						    op->token, op->add,
						    limit_of(op));

	if (op->verb == MEMC_ADD)
		dlki_memc_put(out, "add %s 0 %" PRIu64 " %" PRIu64 "\r\n%s\r\n",
			      key, exptime_s, len, text);
	else
		dlki_memc_put(out,
			      "cas %s 0 %" PRIu64 " %" PRIu64 " %" PRIu64
			      "\r\n%s\r\n",
			      key, exptime_s, len, op->cas, text);
}

/* Put a removal.  The text protocol has no "delete this very item": an empty
 * item takes the place, which expires at once. */
static void put_drop(struct memc_out *out, int meta, const char *key,
		     uint64_t cas)
{
	if (meta)
		dlki_memc_put(out, "md %s C%" PRIu64 "\r\n", key, cas);
	else
		dlki_memc_put(out, "cas %s 0 -1 0 %" PRIu64 "\r\n\r\n", key,
			      cas);
}

/* Put an ADD of the digest, and a get. */
static void put_pool(struct memc_out *out, const struct memc_run *run)
{
	dlki_memc_put(out, "add %s.p 0 0 %" PRIu64 "\r\n%s\r\n", run->prefix,
		      (uint64_t)strlen(run->digest), run->digest);
	dlki_memc_put(out, run->meta ? "mg %s.p v c t\r\n" : "gets %s.p\r\n",
		      run->prefix);
}

void dlki_memc_op_put(struct memc_out *out, const struct memc_run *run,
		      const struct memc_op *op)
{
	int meta = run->meta || op->verb == MEMC_DROP_META;
	char key[MEMC_KEY_SIZE];

	if (op->slot == MEMC_POOL) {
		put_pool(out, run);
		return;
	}
	dlki_memc_key(run->stem, run->stem_len, op->request, op->slot, key);
	if (op->verb == MEMC_DROP || op->verb == MEMC_DROP_META) {
		put_drop(out, meta, key, op->cas);
		return;
	}
	if (op->verb != MEMC_GET)
		put_item(out, run, op, key);
	dlki_memc_put(out, meta ? "mg %s v c t\r\n" : "gets %s\r\n", key);
}

/* Ask for the version.  A server with SASL reads a header of 24 bytes before
 * closing a connection in another protocol. */
void dlki_memc_version_put(struct memc_out *out, int to_sasl)
{
	dlki_memc_put(out, "version%s\r\n", to_sasl ? "                 " : "");
}

void dlki_memc_login_put(struct memc_out *out, const struct dlk_uri *uri)
{
	size_t len = strlen(uri->user) + 1 + strlen(uri->password);

	dlki_memc_put(out, "set auth 0 0 %" PRIu64 "\r\n%s %s\r\n",
		      (uint64_t)len, uri->user, uri->password);
}

void dlki_memc_witness_put(struct memc_out *out, const struct dlk_uri *uri,
			   const char *witness)
{
	const char *prefix = dlk_param_text(uri, "prefix");

	dlki_memc_put(out, "add %s.0 0 0 %" PRIu64 "\r\n%s\r\ngets %s.0\r\n",
		      prefix, (uint64_t)strlen(witness), witness, prefix);
}

/* ---- The answer to a get ------------------------------------------------- */

/* Parse the rest of a life; -1: without end, or impossible. */
static int64_t left_s(const char *text)
{
	uint64_t n;

	return dlki_digits_read(text, &n) != text && n <= MOST_S ? (int64_t)n :
								   -1;
}

static enum memc_next meta_got(struct memc_reading *r, struct memc_op *op,
			       const char *line)
{
	const char *at;

	if (strcmp(line, "EN") == 0)
		return MEMC_READ;
	if (strncmp(line, "VA ", 3) != 0)
		return MEMC_UNEXPECTED;
	at = dlki_digits_read(line + 3, &r->size);
	for (; *at == ' '; at = strchrnul(at + 1, ' ')) {
		if (at[1] == 'c')
			(void)dlki_digits_read(at + 2, &op->item.cas);
		else if (at[1] == 't')
			op->item.left_s = left_s(at + 2);
	}
	return MEMC_DATA;
}

static const char *behind(const char *space)
{
	return *space == ' ' ? space + 1 : space;
}

static enum memc_next text_got(struct memc_reading *r, struct memc_op *op,
			       const char *line)
{
	const char *at;
	uint64_t flags;

	if (strcmp(line, "END") == 0)
		return MEMC_READ;
	if (r->ends || strncmp(line, "VALUE ", 6) != 0)
		return MEMC_UNEXPECTED;
	/* The key has no spaces; flags, size and cas follow. */
	at = dlki_digits_read(behind(strchrnul(line + 6, ' ')), &flags);
	at = dlki_digits_read(behind(at), &r->size);
	at = dlki_digits_read(behind(at), &op->item.cas);
	r->ends = 1;
	return *at == '\0' ? MEMC_DATA : MEMC_UNEXPECTED;
}

/* Is the item as stored?  Any client may have made the mark: it serves with the
 * right number. */
static int is_as_stored(const struct memc_op *op, uint32_t limit)
{
	return op->slot == MEMC_MARK ?
		       op->answer != MEMC_MISSING && op->item.limit == limit :
		       op->answer == MEMC_MINE;
}

/* Judge by the item there afterwards; the line of a store only tells whether
 * this request put it there. */
static void judge(const struct memc_reading *r, const struct memc_run *run,
		  struct memc_op *op)
{
	const char *owner = op->request->owner;
	uint32_t limit = op->verb == MEMC_ADD ? op->limit : op->item.limit;

	dlki_memc_item_parse(&op->item, r->text);
	if (op->item.owner[0] && op->item.token == 0)
		op->item.token = run->base + op->item.cas;
	op->answer = MEMC_OTHER;
	if (owner && strcmp(op->item.owner, owner) == 0)
		op->answer = MEMC_MINE;
	if (r->stored && is_as_stored(op, limit))
		op->answer = MEMC_DONE;
}

static enum memc_next line_of_get(struct memc_reading *r,
				  const struct memc_run *run,
				  struct memc_op *op, const char *line)
{
	if (!r->ends) {
		op->answer = MEMC_MISSING;
		op->item.left_s = -1;
		op->item.cas = 0;
	}
	return run->meta ? meta_got(r, op, line) : text_got(r, op, line);
}

enum memc_next dlki_memc_reading_data(struct memc_reading *r,
				      const struct memc_run *run,
				      struct memc_op *op)
{
	judge(r, run, op);
	return r->ends ? MEMC_LINE : MEMC_READ;
}

/* ---- Other answers ------------------------------------------------------- */

void dlki_memc_reading_begin(struct memc_reading *r)
{
	r->stored = r->gets = r->ends = 0;
	r->size = 0;
	r->full[0] = r->text[0] = '\0';
}

static enum memc_next line_of_store(struct memc_reading *r, const char *line)
{
	r->gets = 1;
	r->stored = strcmp(line, "STORED") == 0;
	if (strncmp(line, FULL, strlen(FULL)) == 0)
		memccpy(r->full, line, '\0', sizeof(r->full) - 1);
	else if (!r->stored && strcmp(line, "NOT_STORED") != 0 &&
		 strcmp(line, "EXISTS") != 0 && strcmp(line, "NOT_FOUND") != 0)
		return MEMC_UNEXPECTED;
	return MEMC_LINE;
}

static enum memc_next line_of_drop(int meta, struct memc_op *op,
				   const char *line)
{
	if (strncmp(line, "HD", 2) == 0 && meta)
		op->answer = MEMC_DONE;
	else if (strncmp(line, "NF", 2) == 0 && meta)
		op->answer = MEMC_MISSING;
	else if (strncmp(line, "EX", 2) == 0 && meta)
		op->answer = MEMC_OTHER;
	else if (strcmp(line, "STORED") == 0 && !meta)
		op->answer = MEMC_DONE;
	else if (strcmp(line, "NOT_FOUND") == 0 && !meta)
		op->answer = MEMC_MISSING;
	else if (strcmp(line, "EXISTS") == 0 && !meta)
		op->answer = MEMC_OTHER;
	else if (strncmp(line, FULL, strlen(FULL)) == 0 && !meta)
		op->answer = MEMC_NO_ROOM;
	else
		return MEMC_UNEXPECTED;
	return MEMC_READ;
}

enum memc_next dlki_memc_reading_line(struct memc_reading *r,
				      const struct memc_run *run,
				      struct memc_op *op, const char *line)
{
	switch (op->verb) {
	case MEMC_DROP:
		return line_of_drop(run->meta, op, line);
	case MEMC_DROP_META:
		return line_of_drop(1, op, line);
	case MEMC_GET:
		return line_of_get(r, run, op, line);
	default:
		return r->gets ? line_of_get(r, run, op, line) :
				 line_of_store(r, line);
	}
}

int dlki_memc_op_has_cas(const struct memc_op *op)
{
	return op->verb == MEMC_DROP || op->verb == MEMC_DROP_META ||
	       op->answer == MEMC_MISSING || op->item.cas != 0;
}

int dlki_memc_unexpected(const char *peer, int first, const char *line,
			 struct dlk_error *err)
{
	int code = DLOCK_EPROTO;

	if (first && line[0] == '-')
		return dlk_fail(err, DLOCK_EINVAL,
				"%s answers as Redis does, not as memcached: "
				"use redis:// for it",
				peer);
	if (strstr(line, "unauthenticated"))
		return dlk_fail(err, DLOCK_EDENIED, MEMC_WANTS_LOGIN, peer);
	if (strncmp(line, "SERVER_ERROR ", 13) == 0)
		code = strstr(line, "memory") ? DLOCK_EEXHAUSTED :
						DLOCK_EUNREACHABLE;
	else if (strstr(line, "Too many open connections"))
		code = DLOCK_EUNREACHABLE; /* until another connection goes */
	return dlk_fail(err, code, "%s: the server says '%.100s'", peer, line);
}
