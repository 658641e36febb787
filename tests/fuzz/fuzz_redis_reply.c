/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For any bytes of a server, in pieces of any length: each whole reply goes to
 * the parser of every verb.  An accepted reply must be in a form of the
 * scripts; a refused reply has a printable message; the memory in use stays
 * within the limits.
 */
#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/fault.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>

#define TOKEN_MAX UINT64_C(9007199254740991)

static void require_message(const struct dlk_error *err, int code)
{
	REQUIRE(code < 0 && err->code == code);
	REQUIRE(strlen(err->text) < sizeof(err->text));
	require_text(err->text);
}

/* Is the text this number, perhaps behind zeroes? */
static int is_number(const struct redis_reply *r, uint64_t number)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu",
			 (unsigned long long)number);
	size_t zeroes = strspn(r->text, "0");

	if (zeroes == r->len)
		return number == 0 && r->len > 0;
	return r->len - zeroes == (size_t)n &&
	       memcmp(r->text + zeroes, digits, (size_t)n) == 0;
}

/* ---- Each verb ----------------------------------------------------------- */

static void try_attempt_answer(const struct redis_reply *r)
{
	struct redis_attempt_answer t = dlki_redis_attempt_answer(r);

	if (t.type == RD_NONSENSE)
		return;
	REQUIRE(r->type == RD_STRING && r->len > 0);
	switch (t.type) {
	case RD_GRANTED:
		REQUIRE(t.token >= 1 && t.token <= TOKEN_MAX);
		REQUIRE(is_number(r, t.token));
		break;
	case RD_BUSY:
		REQUIRE(r->text[0] == 'B' && r->len > 2);
		REQUIRE(t.wait_ms >= 0 && t.wait_ms <= (int64_t)TOKEN_MAX);
		break;
	case RD_LIMIT:
		REQUIRE(r->text[0] == 'L' && r->len > 2);
		break;
	default:
		REQUIRE(r->len == 1);
		REQUIRE(r->text[0] == (t.type == RD_FOREIGN ? 'F' : 'N'));
	}
}

/* The number of release, downgrade and break (0 and more), and of renew (-1 and
 * more). */
static void try_number(const struct redis_reply *r)
{
	for (int64_t least = -1; least <= 0; least++) {
		int64_t n = -7;

		if (dlki_redis_number(r, least, &n))
			REQUIRE(r->type == RD_INTEGER && n >= least &&
				n == r->number);
		else
			REQUIRE(n == -7);
	}
}

static void try_notification(const struct redis_reply *r)
{
	const struct redis_reply *text;
	struct redis_notification p;
	char again[96];
	int n;

	if (!dlki_redis_notification(r, &p))
		return;
	REQUIRE(r->type == RD_ARRAY && r->len == 3);
	text = r->parts[2];
	REQUIRE(text->type == RD_STRING);
	REQUIRE(strlen(p.owner) == 32 &&
		strspn(p.owner, "0123456789abcdef") == 32);
	REQUIRE(p.attempt <= TOKEN_MAX && p.token <= TOKEN_MAX);
	n = snprintf(again, sizeof(again), "%s %llu %llu", p.owner,
		     (unsigned long long)p.attempt,
		     (unsigned long long)p.token);
	/* A longer text has zeroes before a number. */
	REQUIRE(n > 0 && text->len >= (size_t)n);
	REQUIRE(memcmp(text->text, again, 33) == 0);
	REQUIRE(strlen(text->text) == text->len);
}

static void try_participant(const struct redis_reply *r)
{
	struct redis_participant one;
	const struct dlock_participant *p = &one.participant;

	if (!dlki_redis_participant(r, &one))
		return;
	REQUIRE(r->type == RD_STRING && r->len > 0);
	REQUIRE(p->label == one.label && p->id == one.id);
	REQUIRE(strlen(one.label) < sizeof(one.label));
	REQUIRE(strlen(one.id) < sizeof(one.id) && one.id[0]);
	REQUIRE(p->remaining_ms >= -1 && p->token <= TOKEN_MAX);
	REQUIRE(!p->waiting || (p->token == 0 && p->remaining_ms == -1));
}

static void try_lock_info(const struct redis_reply *r)
{
	static const char *const keys[] = { "", "l1", "s1", "x1" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct dlock_lock_info e;
		char name[256];
		int rc = dlki_redis_lock_info(r, keys[i], &e, name);

		REQUIRE(rc == 1 || rc == 0 || rc == DLOCK_EPROTO);
		if (rc != 1)
			continue;
		REQUIRE(r->type == RD_STRING && keys[i][0] == e.kind[0]);
		REQUIRE(e.name == name && name[0] && strlen(name) < 256);
	}
}

static void try_fault(const struct redis_reply *r)
{
	struct dlk_error err = { 0 };
	int keep = -1;

	require_message(&err, dlki_redis_fault(r->text, r->len, "server:6379",
					       &keep, &err));
	REQUIRE(keep == 0 || keep == 1);
	REQUIRE(strncmp(err.text, "server:6379", 11) == 0);
	REQUIRE(err.code != DLOCK_ELOST);
}

/* ---- Whole replies ------------------------------------------------------- */

/* Require a sound reply, and count the bytes of text and parts. */
static size_t weigh(const struct redis_reply *r, int depth)
{
	size_t n = sizeof(*r);

	REQUIRE(r && depth < 12);
	if (r->type == RD_STRING || r->type == RD_ERROR) {
		REQUIRE(r->text && r->text[r->len] == '\0');
		return n + r->len;
	}
	if (r->type != RD_ARRAY)
		return n;
	REQUIRE(r->len == 0 || r->parts);
	for (size_t i = 0; i < r->len; i++)
		n += sizeof(r) + weigh(r->parts[i], depth + 1);
	return n;
}

static void try_reply(const struct redis_reply *r)
{
	REQUIRE(weigh(r, 0) <= RD_REPLY_MAX);
	try_attempt_answer(r);
	try_number(r);
	try_notification(r);
	try_participant(r);
	try_lock_info(r);
	if (r->type == RD_ERROR)
		try_fault(r);
	if (r->type != RD_ARRAY)
		return;
	/* Of inspect, and of SCAN. */
	for (size_t i = 0; i < r->len; i++) {
		try_participant(r->parts[i]);
		try_lock_info(r->parts[i]);
	}
}

/* The first byte is the most bytes of a piece, or 0 for a single piece; a
 * simple generator draws the lengths. */
struct pieces {
	const uint8_t *at;
	size_t left, most;
	uint32_t seed;
};

static size_t next_piece(struct pieces *p)
{
	size_t n = p->left;

	if (p->most > 0) {
		p->seed = p->seed * 1664525u + 1013904223u;
		n = 1 + (p->seed >> 16) % p->most;
	}
	return n < p->left ? n : p->left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pieces p = { data + 1, size - 1, 0, 0 };
	const struct redis_reply *reply = NULL;
	struct redis_reader reader;
	struct dlk_error err;
	int rc = 0;

	if (size == 0)
		return 0;
	p.most = data[0] & 0x3f;
	p.seed = data[0];
	REQUIRE(dlki_redis_reader_init(&reader, &err) == 0);
	while (rc == 0 && p.left > 0) {
		size_t n = next_piece(&p);

		rc = dlki_redis_reader_feed(&reader, (const char *)p.at, n,
					    &err);
		p.at += n;
		p.left -= n;
		while (rc == 0) {
			rc = dlki_redis_reader_next(&reader, &reply, &err);
			if (rc != 1)
				break;
			REQUIRE(reader.built <= RD_REPLY_MAX);
			try_reply(reply);
			rc = 0;
		}
		REQUIRE(reader.built <= RD_REPLY_MAX);
	}
	if (rc != 0)
		require_message(&err, rc);
	dlki_redis_reader_free(&reader);
	return 0;
}
