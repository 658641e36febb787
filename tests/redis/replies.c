/* SPDX-License-Identifier: Apache-2.0 */
/* Parses replies, without a server. */
#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/command.h"
#include "backends/redis/protocol/fault.h"
#include "backends/redis/protocol/reply.h"

#include <criterion/criterion.h>
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
	refused("$-2\r\n");
	refused(":99999999999999999999999\r\n");
	refused("*4294967296\r\n");
	refused("\r\n");
	refused("\x16\x03\x01\x02\r\n");
	refused("%1\r\n+a\r\n+b\r\n"); /* RESP3 */
	refused("_\r\n");
	refused("#t\r\n");
	refused(",1.5\r\n");
	refused(">2\r\n+a\r\n+b\r\n");
}

/* Many short rows take more memory than bytes: a long wait queue. */
Test(replies, large_as_built)
{
	enum { ROWS = 60000 };
	static const char row[] = "$20\r\n01234567890123456789\r\n";
	const struct redis_reply *reply = NULL;
	int rc = feed("*60000\r\n", 8, &reply);

	for (int i = 0; rc == 0 && i < ROWS; i++)
		rc = feed(row, sizeof(row) - 1, &reply);
	cr_expect_eq(rc, DLOCK_EPROTO);
	cr_expect_not_null(strstr(err.text, "a reply of over 4 MiB"), "%s",
			   err.text);
}

static struct redis_attempt_answer attempt_answer(const char *text)
{
	struct redis_reply r = { .type = RD_STRING,
				 .text = text,
				 .len = strlen(text) };

	return dlki_redis_attempt_answer(&r);
}

Test(replies, attempt)
{
	struct redis_reply odd = { .type = RD_INTEGER, .number = 1 };
	static const char *const bad[] = { "",
					   "0",
					   "B",
					   "B ",
					   "B x",
					   "B 1 ",
					   "L",
					   "F ",
					   "1790 ",
					   "X 1",
					   "-1",
					   "9007199254740992",
					   "0000000000000000",
					   "99999999999999999",
					   "B -99999999999999999999",
					   "L 99999999999" };

	cr_expect_eq(attempt_answer("1790000000000000").type, RD_GRANTED);
	cr_expect_eq(attempt_answer("1790000000000000").token,
		     1790000000000000u);
	cr_expect_eq(attempt_answer("B 250").type, RD_BUSY);
	cr_expect_eq(attempt_answer("B 250").wait_ms, 250);
	cr_expect_eq(attempt_answer("L 3").type, RD_LIMIT);
	cr_expect_eq(attempt_answer("L 3").limit, 3);
	cr_expect_eq(attempt_answer("F").type, RD_FOREIGN);
	cr_expect_eq(attempt_answer("N").type, RD_ENDLESS);
	cr_expect_eq(dlki_redis_attempt_answer(&odd).type, RD_NONSENSE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(attempt_answer(bad[i]).type, RD_NONSENSE, "'%s'",
			     bad[i]);
}

static int participant(const char *text, struct redis_participant *out)
{
	struct redis_reply r = { .type = RD_STRING,
				 .text = text,
				 .len = strlen(text) };

	return dlki_redis_participant(&r, out);
}

Test(replies, participants)
{
	struct redis_participant p;

	cr_assert(participant("X 250 " OWNER " 17 900 host:1\nname", &p));
	cr_expect_str_eq(p.participant.label, "host:1");
	cr_expect_str_eq(p.participant.id, "01234567");
	cr_expect_eq(p.participant.token, 17);
	cr_expect_eq(p.participant.remaining_ms, 250);
	cr_expect(!p.participant.shared && !p.participant.waiting);
	cr_assert(participant("W s " OWNER " 900 a\nb\nname", &p));
	cr_expect_str_eq(p.participant.label, "a\nb");
	cr_expect(p.participant.shared && p.participant.waiting);
	cr_assert(participant("F -1", &p));
	cr_expect_eq(p.participant.remaining_ms, -1);
	cr_expect_not(participant("", &p));
	cr_expect_not(participant("X", &p));
	cr_expect_not(participant("X 250 " OWNER, &p));
	cr_expect_not(participant("X 250 " OWNER " 17 host:1\nname", &p));
	cr_expect_not(participant("W", &p));
	cr_expect_not(participant("Y 1 " OWNER " 17 l\nn", &p));
	cr_expect_not(participant("L 3", &p));
}

static int limit_row(const char *text, uint32_t *limit)
{
	struct redis_reply r = { .type = RD_STRING,
				 .text = text,
				 .len = strlen(text) };

	return dlki_redis_limit_row(&r, limit);
}

Test(replies, limits)
{
	uint32_t limit = 7;

	cr_expect_not(limit_row("", &limit));
	cr_expect_not(limit_row("L", &limit));
	cr_expect_not(limit_row("L x", &limit));
	cr_expect_not(limit_row("L 3 ", &limit));
	cr_expect_not(limit_row("L 4294967296", &limit));
	cr_expect_not(limit_row("S 3", &limit));
	cr_expect_eq(limit, 7);
	cr_assert(limit_row("L 4294967295", &limit));
	cr_expect_eq(limit, UINT32_MAX);
}

Test(replies, locks)
{
	struct redis_reply r = { .type = RD_STRING, .text = "7 900 me\nname" };
	struct redis_reply nil = { .type = RD_NIL };
	struct dlock_lock_info e;
	char name[256];

	cr_assert_eq(dlki_redis_lock_info(&r, "sx", &e, name), 1);
	cr_expect_str_eq(e.name, "name");
	cr_expect_str_eq(e.kind, "semaphore");
	cr_expect_eq(e.permits, 7);
	cr_expect_eq(dlki_redis_lock_info(&nil, "sx", &e, name), 0);
	r.text = "nothing";
	cr_expect_eq(dlki_redis_lock_info(&r, "sx", &e, name), DLOCK_EPROTO);
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
		const char *part;
	} known[] = {
		{ "LOADING Redis is loading", DLOCK_EUNREACHABLE, 1,
		  "loading" },
		{ "BUSY Redis is busy running a script.", DLOCK_EUNREACHABLE, 1,
		  "long script" },
		{ "READONLY You can't write", DLOCK_EUNREACHABLE, 0,
		  "give the master" },
		{ "MASTERDOWN Link with MASTER is down", DLOCK_EUNREACHABLE, 0,
		  "without its master" },
		{ "CLUSTERDOWN The cluster is down", DLOCK_EUNREACHABLE, 0,
		  "cluster that is down" },
		{ "TRYAGAIN Multiple keys request", DLOCK_EUNREACHABLE, 1,
		  "slot" },
		{ "MOVED 1 127.0.0.1:1", DLOCK_ENOTSUP, 1,
		  "does not have this lock; clusters" },
		{ "ASK 866 127.0.0.1:1", DLOCK_ENOTSUP, 1, "away; clusters" },
		{ "CROSSSLOT Keys in request", DLOCK_ENOTSUP, 1,
		  "node; clusters" },
		{ "OOM command not allowed", DLOCK_EUNREACHABLE, 1,
		  "maxmemory" },
		{ "MISCONF Redis is configured to save", DLOCK_EUNREACHABLE, 1,
		  "cannot save" },
		{ "NOREPLICAS Not enough good replicas", DLOCK_EUNREACHABLE, 1,
		  "min-replicas-to-write" },
		{ "NOAUTH Authentication required.", DLOCK_EDENIED, 0,
		  "wants a password" },
		{ "WRONGPASS invalid", DLOCK_EDENIED, 0,
		  "refused our user name" },
		{ "NOPERM this user", DLOCK_EDENIED, 1, "ACL rule" },
		{ "DENIED Redis is running in protected mode", DLOCK_EDENIED, 0,
		  "protected mode" },
		{ "ERR DB index is out of range", DLOCK_EINVAL, 0,
		  "that many databases" },
		{ "WRONGTYPE Operation", DLOCK_EPROTO, 1, "another type" },
		{ "ERR max number of clients reached", DLOCK_EUNREACHABLE, 0,
		  "maxclients" },
		{ "ERR Error running script (call to f_1): "
		  "@user_script:3: WRONGTYPE Operation",
		  DLOCK_EPROTO, 1, "another type" },
		{ "ERR user_script:9: DLOCKEXHAUSTED", DLOCK_EEXHAUSTED, 1,
		  "2^53" },
		{ "ERR user_script:9: DLOCKCLOCK", DLOCK_EPROTO, 1,
		  "the key \"clock\" of the prefix" },
		{ "ERR syntax error", DLOCK_ENOTSUP, 1, "older than" },
		{ "ERR unknown command 'evalsha'", DLOCK_ENOTSUP, 1,
		  "a proxy" },
		{ "ERR Unknown Redis command called from script script: 1, on "
		  "@user_script:1.",
		  DLOCK_ENOTSUP, 1, "renamed" },
		{ "ERR Error running script (call to f_1): @user_script:3: "
		  "@user_script: 3: Unknown Redis command called from Lua "
		  "script",
		  DLOCK_ENOTSUP, 1, "renamed" },
		{ "ERR Script killed by user with SCRIPT KILL... script: 1, on "
		  "@user_script:1.",
		  DLOCK_EUNREACHABLE, 1, "SCRIPT KILL" },
		{ "ERR of a new kind", DLOCK_EPROTO, 0, "of a new kind" },
		{ "", DLOCK_EPROTO, 0, "server: " },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		int keep = -1;

		cr_expect_eq(fault(known[i].text, &keep), known[i].rc, "'%s'",
			     known[i].text);
		cr_expect_eq(keep, known[i].keep, "'%s'", known[i].text);
		cr_expect(strncmp(err.text, "server", 6) == 0);
		cr_expect(strstr(err.text, known[i].part), "%s", err.text);
	}
}
