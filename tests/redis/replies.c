/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from the server, taken apart without one. */
#include "backends/redis/fault.h"
#include "backends/redis/out.h"
#include "backends/redis/reply.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER "0123456789abcdef0123456789abcdef"

static struct redis_reader reader;
static struct dlk_error err;

static void init(void)
{
	cr_assert_eq(dlki_redis_reader_init(&reader, &err), 0);
}

static void fini(void)
{
	dlki_redis_reader_free(&reader);
}

TestSuite(replies, .init = init, .fini = fini, .timeout = 20);

static int feed(const char *bytes, size_t n, const struct redis_reply **out)
{
	int rc = dlki_redis_reader_feed(&reader, bytes, n, &err);

	return rc != 0 ? rc : dlki_redis_reader_next(&reader, out, &err);
}

/* The one reply that these bytes are, also when they come one by one. */
static const struct redis_reply *whole(const char *bytes)
{
	const struct redis_reply *reply = NULL;
	size_t n = strlen(bytes);

	cr_assert_eq(feed(bytes, n, &reply), 1);
	for (size_t i = 0; i + 1 < n; i++)
		cr_assert_eq(feed(bytes + i, 1, &reply), 0);
	cr_assert_eq(feed(bytes + n - 1, 1, &reply), 1);
	return reply;
}

Test(replies, types)
{
	const struct redis_reply *r = whole("*3\r\n:7\r\n$2\r\nhi\r\n$-1\r\n");

	cr_assert_eq(r->type, REDIS_ARRAY);
	cr_assert_eq(r->len, 3);
	cr_expect_eq(r->parts[0]->number, 7);
	cr_expect_str_eq(r->parts[1]->text, "hi");
	cr_expect_eq(r->parts[2]->type, REDIS_NIL);
	r = whole("-NOSCRIPT x\r\n");
	cr_expect_eq(r->type, REDIS_ERROR);
	cr_expect_eq(whole("+OK\r\n")->type, REDIS_STRING);
	cr_expect_eq(whole("*0\r\n")->len, 0);
	cr_expect_eq(whole("*-1\r\n")->type, REDIS_NIL);
}

static void refused(const char *bytes)
{
	const struct redis_reply *reply = NULL;
	int rc;

	fini();
	init();
	rc = feed(bytes, strlen(bytes), &reply);
	cr_expect(rc < 0, "%.20s is answered by %d", bytes, rc);
}

Test(replies, nonsense)
{
	refused("HTTP/1.1 400 Bad Request\r\n");
	refused("*1000000000\r\n");
	refused("*600000\r\n");
	refused("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
		"*1\r\n*1\r\n*1\r\n");
	refused(":12a\r\n");
	refused("$x\r\n");
}

/* However it is announced, no more than the limit is kept. */
Test(replies, endless)
{
	const struct redis_reply *reply = NULL;
	static char zeroes[65536];
	int rc = feed("$4294967296\r\n", 13, &reply);
	int n = 0;

	while (rc == 0 && n++ < 1000)
		rc = feed(zeroes, sizeof(zeroes), &reply);
	cr_expect_eq(rc, DLOCK_EPROTO);
	cr_expect_leq((size_t)n * sizeof(zeroes),
		      REDIS_REPLY_MAX + sizeof(zeroes));
}

static struct redis_taken taken(const char *text)
{
	struct redis_reply r = { .type = REDIS_STRING,
				 .text = text,
				 .len = strlen(text) };

	return dlki_redis_taken(&r);
}

Test(replies, taken)
{
	struct redis_reply odd = { .type = REDIS_INTEGER, .number = 1 };
	static const char *const bad[] = { "",    "0",   "B",
					   "B ",  "B x", "B 1 ",
					   "L",   "F ",  "1790 ",
					   "X 1", "-1",  "9007199254740992" };

	cr_expect_eq(taken("1790000000000000").answer, REDIS_GRANTED);
	cr_expect_eq(taken("1790000000000000").token, 1790000000000000u);
	cr_expect_eq(taken("B 250").answer, REDIS_BUSY);
	cr_expect_eq(taken("B 250").wait_ms, 250);
	cr_expect_eq(taken("L 3").answer, REDIS_LIMIT);
	cr_expect_eq(taken("L 3").limit, 3);
	cr_expect_eq(taken("F").answer, REDIS_FOREIGN);
	cr_expect_eq(taken("N").answer, REDIS_ENDLESS);
	cr_expect_eq(dlki_redis_taken(&odd).answer, REDIS_NONSENSE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(taken(bad[i]).answer, REDIS_NONSENSE, "'%s'",
			     bad[i]);
}

Test(replies, push)
{
	const struct redis_reply *r;
	struct redis_push p;

	r = whole("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$51\r\n" OWNER
		  " 3 1790000000000000\r\n");
	cr_assert(dlki_redis_push(r, &p));
	cr_expect_str_eq(p.owner, OWNER);
	cr_expect_eq(p.look, 3);
	cr_expect_eq(p.token, 1790000000000000u);
	cr_expect_not(dlki_redis_push(
		whole("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"), &p));
	cr_expect_not(
		dlki_redis_push(whole("*2\r\n$4\r\npong\r\n$0\r\n\r\n"), &p));
	cr_expect_not(dlki_redis_push(whole("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n"
					    "$5\r\nx 1 2\r\n"),
				      &p));
}

static int party(const char *text, struct redis_party *out)
{
	struct redis_reply r = { .type = REDIS_STRING,
				 .text = text,
				 .len = strlen(text) };

	return dlki_redis_party(&r, out);
}

Test(replies, parties)
{
	struct redis_party p;

	cr_assert(party("X 250 " OWNER " 17 host:1\nname", &p));
	cr_expect_str_eq(p.party.label, "host:1");
	cr_expect_str_eq(p.party.id, "01234567");
	cr_expect_eq(p.party.token, 17);
	cr_expect_eq(p.party.remaining_ms, 250);
	cr_expect(!p.party.shared && !p.party.waiting);
	cr_assert(party("W s " OWNER " a\nb\nname", &p));
	cr_expect_str_eq(p.party.label, "a\nb");
	cr_expect(p.party.shared && p.party.waiting);
	cr_assert(party("F -1", &p));
	cr_expect_eq(p.party.remaining_ms, -1);
	cr_expect_not(party("", &p));
	cr_expect_not(party("X", &p));
	cr_expect_not(party("X 250 " OWNER, &p));
	cr_expect_not(party("W", &p));
	cr_expect_not(party("Y 1 " OWNER " 17 l\nn", &p));
}

Test(replies, entries)
{
	struct redis_reply r = { .type = REDIS_STRING, .text = "7 me\nname" };
	struct redis_reply nil = { .type = REDIS_NIL };
	struct dlock_entry e;
	char name[256];

	cr_assert_eq(dlki_redis_entry(&r, "sx", &e, name), 1);
	cr_expect_str_eq(e.name, "name");
	cr_expect_str_eq(e.kind, "semaphore");
	cr_expect_eq(e.permits, 7);
	cr_expect_eq(dlki_redis_entry(&nil, "sx", &e, name), 0);
	r.text = "nothing";
	cr_expect_eq(dlki_redis_entry(&r, "sx", &e, name), DLOCK_EPROTO);
}

static int fault(const char *text, int *keep)
{
	return dlki_redis_fault(text, strlen(text), "server", keep, &err);
}

Test(replies, faults)
{
	static const struct {
		const char *text;
		int rc, keep;
	} known[] = {
		{ "LOADING Redis is loading", DLOCK_EUNREACHABLE, 1 },
		{ "BUSY Redis is busy", DLOCK_EUNREACHABLE, 1 },
		{ "READONLY You can't write", DLOCK_EUNREACHABLE, 0 },
		{ "OOM command not allowed", DLOCK_EUNREACHABLE, 1 },
		{ "NOAUTH Authentication required.", DLOCK_EDENIED, 0 },
		{ "WRONGPASS invalid", DLOCK_EDENIED, 0 },
		{ "NOPERM this user", DLOCK_EDENIED, 1 },
		{ "MOVED 1 127.0.0.1:1", DLOCK_ENOTSUP, 1 },
		{ "WRONGTYPE Operation", DLOCK_EPROTO, 1 },
		{ "ERR max number of clients reached", DLOCK_EUNREACHABLE, 0 },
		{ "ERR Error running script (call to f_1): "
		  "@user_script:3: WRONGTYPE Operation",
		  DLOCK_EPROTO, 1 },
		{ "ERR user_script:9: DLOCKEXHAUSTED", DLOCK_EEXHAUSTED, 1 },
		{ "ERR syntax error", DLOCK_ENOTSUP, 1 },
		{ "ERR what nobody has seen", DLOCK_EPROTO, 0 },
		{ "", DLOCK_EPROTO, 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		int keep = -1;

		cr_expect_eq(fault(known[i].text, &keep), known[i].rc, "'%s'",
			     known[i].text);
		cr_expect_eq(keep, known[i].keep, "'%s'", known[i].text);
		cr_expect(strncmp(err.text, "server", 6) == 0);
	}
}

Test(replies, requests)
{
	static char big[8000];
	struct redis_out o;

	dlki_redis_out_init(&o);
	dlki_redis_out_words(&o, 2);
	dlki_redis_out_text(&o, "GET");
	dlki_redis_out_word(&o, "a\0b", 3);
	cr_expect_eq(o.len, 22);
	cr_expect_arr_eq(o.at, "*2\r\n$3\r\nGET\r\n$3\r\na\0b\r\n", 22);
	dlki_redis_out_word(&o, big, sizeof(big));
	cr_expect_not(o.failed);
	cr_expect_eq(o.len, 22 + 7 + sizeof(big) + 2);
	cr_expect_arr_eq(o.at, "*2\r\n$3\r\nGET\r\n", 13);
	dlki_redis_out_free(&o);
}
