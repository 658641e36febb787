/* SPDX-License-Identifier: Apache-2.0 */
/* What a server should not say, or no memcached says: none of it is a lock. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "support/hostile.h"

TestSuite(memcached_nonsense, .timeout = 120);

#define OWNER "0123456789abcdef0123456789abcdef"
#define ITEM "dlock1 " OWNER " 0 0 "
#define BYTES(text) text, sizeof(text) - 1

/* The answer to an `add`, the get behind it and, if that was understood, the
 * get of the mark; `meta` is NULL where the protocols do not differ. */
static const struct nonsense {
	const char *text;
	size_t text_len;
	const char *meta;
	size_t meta_len;
	int code;
} nonsense[] = {
	{ BYTES("SERVER_ERROR out of memory storing object\r\nEND\r\n"),
	  BYTES("SERVER_ERROR out of memory storing object\r\nEN\r\n"),
	  DLOCK_EEXHAUSTED },
	{ BYTES("SERVER_ERROR a proxy's own\r\n"), NULL, 0,
	  DLOCK_EUNREACHABLE },
	{ BYTES("CLIENT_ERROR unauthenticated\r\n"), NULL, 0, DLOCK_EDENIED },
	{ BYTES("ERROR\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("CLIENT_ERROR line too long\r\nERROR\r\n"), NULL, 0,
	  DLOCK_EPROTO },
	{ BYTES("CLIENT_ERROR bad data chunk\r\nERROR\r\n"), NULL, 0,
	  DLOCK_EPROTO },
	/* It did, and somebody was quicker; or it did, and it is not there. */
	{ BYTES("STORED\r\nVALUE k 0 44 7\r\n" ITEM "\r\nEND\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 c7 t9\r\n" ITEM "\r\nEN\r\n"), DLOCK_EBUSY },
	{ BYTES("STORED\r\nVALUE k 0 0 7\r\n\r\nEND\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 0 c7 t9\r\n\r\nEN\r\n"), DLOCK_EBUSY },
	{ BYTES("STORED\r\nEND\r\nEND\r\n"), BYTES("STORED\r\nEN\r\nEN\r\n"),
	  DLOCK_EBUSY },
	{ BYTES("NOT_STORED\r\nEND\r\nEND\r\n"),
	  BYTES("NOT_STORED\r\nEN\r\nEN\r\n"), DLOCK_EBUSY },
	{ BYTES("EXISTS\r\nEND\r\nEND\r\n"), BYTES("EXISTS\r\nEN\r\nEN\r\n"),
	  DLOCK_EBUSY },
	/* Items without a number, of no size, or not of the size they say. */
	{ BYTES("STORED\r\nVALUE k 0 44 0\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 c0 t9\r\n" ITEM "\r\n"), DLOCK_ENOTSUP },
	{ BYTES("STORED\r\nVALUE k 0 44\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 t9\r\n" ITEM "\r\n"), DLOCK_ENOTSUP },
	{ BYTES("STORED\r\nVALUE k 0 40 7\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 40 c7 t9\r\n" ITEM "\r\n"), DLOCK_EPROTO },
	{ BYTES("STORED\r\nVALUE k 0 -1 7\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA -1 c7 t9\r\n" ITEM "\r\n"), DLOCK_EPROTO },
	{ BYTES("STORED\r\nVALUE k 0 99999999999999999999 7\r\nabc\r\n"),
	  BYTES("STORED\r\nVA 99999999999999999999 c7\r\nabc\r\n"),
	  DLOCK_EUNREACHABLE },
	{ BYTES("STORED\r\nVALUE k 0 44 7 8 9\r\n" ITEM "\r\nEND\r\n"), NULL, 0,
	  DLOCK_EPROTO },
	{ BYTES("STORED\r\nVALUE k 0 44 7\r\n" ITEM "\r\nVALUE k 0 1 1\r\n"),
	  NULL, 0, DLOCK_EPROTO },
	/* The other protocol's words, or some of one's own. */
	{ BYTES("HD\r\nEN\r\n"), BYTES("HD\r\nEND\r\n"), DLOCK_EPROTO },
	{ BYTES("STORED\r\nEN\r\n"), BYTES("STORED\r\nEND\r\n"), DLOCK_EPROTO },
	{ BYTES("STORED\r\nSTORED\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("STORED \r\nEND\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("stored\r\nEND\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("OK\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("\0\0\0\0\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), NULL, 0, DLOCK_EPROTO },
	{ BYTES("-ERR unknown command\r\n"), NULL, 0, DLOCK_EPROTO },
	/* Not all of an answer. */
	{ BYTES("\x16\x03\x01\x02\x00"), NULL, 0, DLOCK_EUNREACHABLE },
	{ BYTES("STORED"), NULL, 0, DLOCK_EUNREACHABLE },
	{ BYTES("STORED\r\n"), NULL, 0, DLOCK_EUNREACHABLE },
	{ BYTES("STORED\r\nVALUE k 0 44 7\r\n" ITEM),
	  BYTES("STORED\r\nVA 44 c7 t9\r\n" ITEM), DLOCK_EUNREACHABLE },
};

enum { NONSENSE = sizeof(nonsense) / sizeof(nonsense[0]), ASK_MS = 200 };

static void say(struct hostile *h, const struct nonsense *n,
		const char *protocol, const char *to)
{
	if (n->meta && strcmp(protocol, "meta") == 0)
		hostile_say(h, to, n->meta, n->meta_len);
	else
		hostile_say(h, to, n->text, n->text_len);
}

/* A busy machine may be too slow to hear what is said; and a request that asks
 * for the server's age as well is told the truth. */
static void is_no_lock(dlock_lock *l, size_t which)
{
	int rc = DLOCK_EUNREACHABLE;

	for (int i = 0; i < 50 && (rc == DLOCK_EUNREACHABLE || rc == 0); i++) {
		dlock_hold *hold = NULL;
		int64_t begun = now_ms();

		rc = dlock_acquire(l, 0, &hold);
		CHECK_INT(now_ms() - begun, <=, ASK_MS + 50 + slack_ms());
		if (rc == DLOCK_OK) {
			give(hold);
			nap_ms(20);
		} else if (nonsense[which].code == DLOCK_EUNREACHABLE) {
			break;
		}
	}
	if (rc != nonsense[which].code)
		FAIL("%s for nonsense %zu: %.40s", check_code(rc), which,
		     nonsense[which].text);
}

EITHER_WAY(memcached_nonsense, to_an_acquire_is_no_lock)
{
	struct scene s = scene_new(protocol, NULL);
	struct hostile *h = hostile_start(s.server);
	dlock_client *c = by_port(&s, hostile_port(h),
				  "ttl=30s&ask=200ms&close=200ms");
	dlock_lock *l = mutex(c, "x"), *theirs = mutex(direct(&s, ""), "x");

	give(take(l));
	for (size_t i = 0; i < NONSENSE; i++) {
		say(h, &nonsense[i], protocol, "^add ");
		is_no_lock(l, i);
		hostile_say(h, NULL, NULL, 0);
		/* It is in nobody's way, either. */
		give(take(theirs));
		give(take(l));
	}
	CHECK_INT(hostile_lies(h), >=, NONSENSE);
	hostile_free(h);
	scene_end(&s);
}

/* Nothing but a certain "gone" ends a hold before its lease. */
EITHER_WAY(memcached_nonsense, to_a_renewal_is_no_loss)
{
	struct scene s = scene_new(protocol, NULL);
	struct hostile *h = hostile_start(s.server);
	dlock_client *c = by_port(&s, hostile_port(h),
				  "ttl=3s&ask=200ms&close=200ms");
	dlock_lock *l = mutex(c, "x");
	struct dlock_stats stats = { .size = sizeof(stats) };

	for (size_t i = 0; i < NONSENSE; i += 3) {
		const struct nonsense *n = &nonsense[i];
		dlock_hold *hold;
		uint64_t before;

		/* These say, in so many words, that it is not there. */
		if (n->code == DLOCK_EBUSY)
			continue;
		hold = take(l);
		CHECK_OK(dlock_get_stats(c, &stats));
		before = stats.renew_failed;
		say(h, n, protocol, with_key(&s, "cas %s 0 6 ", "lnx"));
		EVENTUALLY(dlock_get_stats(c, &stats) == 0 &&
			   stats.renew_failed > before);
		CHECK_OK(dlock_check(hold));
		hostile_say(h, NULL, NULL, 0);
		dlock_release(hold);
	}
	CHECK_OK(dlock_get_stats(c, &stats));
	CHECK_INT(stats.lost, ==, 0);
	hostile_free(h);
	scene_end(&s);
}
