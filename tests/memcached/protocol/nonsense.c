/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that no memcached gives, or no server with the lock: they neither
 * grant a lock nor end a hold. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

#define OTHER "0123456789abcdef0123456789abcdef"
#define ITEM "dlock1 " OTHER " 0 0 "
#define BYTES(text) text, sizeof(text) - 1
#define LOST(text)                                                             \
	{                                                                      \
		BYTES(text), NULL, 0, DLKI_UNANSWERED                          \
	}

/* The answer to an `add`, to the get behind, and in some rows to the get of the
 * mark; `meta` is NULL if the protocols do not differ. */
static const struct nonsense {
	const char *text;
	size_t text_len;
	const char *meta;
	size_t meta_len;
	enum dlki_outcome outcome;
} nonsense[] = {
	LOST("SERVER_ERROR a proxy's own\r\n"),
	LOST("CLIENT_ERROR unauthenticated\r\n"),
	LOST("ERROR\r\n"),
	LOST("CLIENT_ERROR line too long\r\nERROR\r\n"),
	LOST("CLIENT_ERROR bad data chunk\r\nERROR\r\n"),
	/* Stored, and another owner was quicker, or the item is gone. */
	{ BYTES("STORED\r\nVALUE k 0 44 7\r\n" ITEM "\r\nEND\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 c7 t9\r\n" ITEM "\r\nEN\r\n"), DLKI_BUSY },
	{ BYTES("STORED\r\nVALUE k 0 0 7\r\n\r\nEND\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 0 c7 t9\r\n\r\nEN\r\n"), DLKI_BUSY },
	{ BYTES("STORED\r\nEND\r\nEND\r\n"), BYTES("STORED\r\nEN\r\nEN\r\n"),
	  DLKI_BUSY },
	{ BYTES("NOT_STORED\r\nEND\r\nEND\r\n"),
	  BYTES("NOT_STORED\r\nEN\r\nEN\r\n"), DLKI_BUSY },
	{ BYTES("EXISTS\r\nEND\r\nEND\r\n"), BYTES("EXISTS\r\nEN\r\nEN\r\n"),
	  DLKI_BUSY },
	/* Items without a number, of no size, or of another size. */
	{ BYTES("STORED\r\nVALUE k 0 44 0\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 c0 t9\r\n" ITEM "\r\n"), DLKI_FAILED },
	{ BYTES("STORED\r\nVALUE k 0 44\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 44 t9\r\n" ITEM "\r\n"), DLKI_FAILED },
	{ BYTES("STORED\r\nVALUE k 0 40 7\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA 40 c7 t9\r\n" ITEM "\r\n"), DLKI_UNANSWERED },
	{ BYTES("STORED\r\nVALUE k 0 -1 7\r\n" ITEM "\r\nEND\r\n"),
	  BYTES("STORED\r\nVA -1 c7 t9\r\n" ITEM "\r\n"), DLKI_UNANSWERED },
	{ BYTES("STORED\r\nVALUE k 0 99999999999999999999 7\r\nabc\r\n"),
	  BYTES("STORED\r\nVA 99999999999999999999 c7\r\nabc\r\n"),
	  DLKI_UNANSWERED },
	LOST("STORED\r\nVALUE k 0 44 7 8 9\r\n" ITEM "\r\nEND\r\n"),
	LOST("STORED\r\nVALUE k 0 44 7\r\n" ITEM "\r\nVALUE k 0 1 1\r\n"),
	/* Words of the other protocol, and words of neither. */
	{ BYTES("HD\r\nEN\r\n"), BYTES("HD\r\nEND\r\n"), DLKI_UNANSWERED },
	{ BYTES("STORED\r\nEN\r\n"), BYTES("STORED\r\nEND\r\n"),
	  DLKI_UNANSWERED },
	LOST("STORED\r\nSTORED\r\n"),
	LOST("STORED \r\nEND\r\n"),
	LOST("stored\r\nEND\r\n"),
	LOST("OK\r\n"),
	LOST("\r\n"),
	LOST("\0\0\0\0\r\n"),
	LOST("HTTP/1.1 400 Bad Request\r\n\r\n"),
	LOST("-ERR unknown command\r\n"),
	/* Parts of an answer. */
	LOST("\x16\x03\x01\x02\x00"),
	LOST("STORED"),
	LOST("STORED\r\n"),
	{ BYTES("STORED\r\nVALUE k 0 44 7\r\n" ITEM),
	  BYTES("STORED\r\nVA 44 c7 t9\r\n" ITEM), DLKI_UNANSWERED },
};

enum { NONSENSE = sizeof(nonsense) / sizeof(nonsense[0]) };

/* The server says the nonsense, again to an attempt that asks again, and closes
 * if op `i` does not end. */
static void say(int i, const struct nonsense *n, int meta)
{
	const char *bytes = meta && n->meta ? n->meta : n->text;
	size_t len = meta && n->meta ? n->meta_len : n->text_len;

	for (int k = 0; k < 5 && rig.ended[i] == 0; k++) {
		script_says_bytes(&rig.world, RIG_MAIN, bytes, len);
		rig_turn();
		rig_turn();
		if (n->outcome == DLKI_UNANSWERED)
			break;
		if (n->outcome == DLKI_FAILED && rig.ended[i] == 0)
			rig_say(RIG_MAIN, NONE); /* no mark */
	}
	if (rig.ended[i] == 0) {
		rig_lose(RIG_MAIN);
	}
	cr_assert_eq(rig.ended[i], 1);
}

static void expect_no_lock(const struct nonsense *n, int meta)
{
	rig_begin_up("", meta);
	rig_submit(0, DLKI_ATTEMPT);
	say(0, n, meta);
	cr_assert_eq(rig.ops[0].outcome, n->outcome, "%d, %d for: %.40s", meta,
		     (int)rig.ops[0].outcome, n->text);
	rig_end();
}

Test(memcached_nonsense, to_an_attempt_is_no_lock)
{
	for (size_t i = 0; i < NONSENSE; i++) {
		expect_no_lock(&nonsense[i], 0);
		expect_no_lock(&nonsense[i], 1);
	}
}

/* BUSY is an answer: the item is gone. */
static void expect_no_loss(const struct nonsense *n, int meta)
{
	rig_begin_up("", meta);
	rig_hold();
	rig_submit(1, DLKI_RENEW);
	say(1, n, meta);
	cr_assert(rig.ops[1].outcome != DLKI_ANSWERED || rig.ops[1].stood,
		  "%d: %.40s", meta, n->text);
	rig_end();
}

Test(memcached_nonsense, to_a_renewal_is_no_loss)
{
	for (size_t i = 0; i < NONSENSE; i++) {
		if (nonsense[i].outcome == DLKI_BUSY)
			continue;
		expect_no_loss(&nonsense[i], 0);
		expect_no_loss(&nonsense[i], 1);
	}
}
