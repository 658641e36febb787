/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: the tokens, and the text. */
#include "backends/zk/anchor.h"

#include <criterion/criterion.h>

#include "support/case.h"
#include "support/check.h"

TestSuite(zk_anchor, .timeout = 120);

#define EPOCH (INT64_C(1) << 32)

/* A client knows the tokens before an anchor, however late the client learns of
 * the anchor. */
CASE(zk_anchor, tells_of_tokens_before_it)
{
	struct zk_anchor none = { 0 };
	struct zk_anchor a = dlki_zk_anchor_next(none, 100, 5000);
	struct zk_anchor b = dlki_zk_anchor_next(a, 200, 9000);

	CHECK_INT(a.us, ==, 5000000);
	CHECK_INT(dlki_zk_anchor_token(a, none, 150), ==, 5000050);
	CHECK_INT(dlki_zk_anchor_token(b, a, 150), ==, 5000050);
	CHECK_INT(dlki_zk_anchor_token(b, a, 250), ==, 9000050);
	/* The anchors do not tell. */
	CHECK_INT(dlki_zk_anchor_token(a, none, 50), ==, 0);
	CHECK_INT(dlki_zk_anchor_token(b, a, 50), ==, 0);
	CHECK_INT(dlki_zk_anchor_token(b, a, 200 + ZK_ANCHOR_SPAN), ==, 0);
	/* An election makes tokens jump by a span, not by 2^32. */
	b = dlki_zk_anchor_next(a, EPOCH + 7, 4000);
	CHECK_INT(b.us, ==, a.us + ZK_ANCHOR_SPAN);
	/* The servers' data was wiped. */
	b = dlki_zk_anchor_next(a, 7, 4000);
	CHECK_INT(b.us, ==, a.us + ZK_ANCHOR_SPAN);
}

CASE(zk_anchor, does_not_overflow)
{
	static const int64_t clocks[] = { INT64_MIN, -1, 0, INT64_MAX / 1000,
					  INT64_MAX };
	struct zk_anchor none = { 0 }, a;
	struct zk_anchor top = { 1, (INT64_C(1) << 62) - 1 };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		a = dlki_zk_anchor_next(none, INT64_MAX - 10, clocks[i]);
		CHECK_INT(a.us, ==, 1);
		CHECK_INT(dlki_zk_anchor_token(a, none, INT64_MAX), ==, 11);
	}
	a = dlki_zk_anchor_next(top, INT64_MAX - 10, 0);
	CHECK_INT(a.us, ==, top.us + ZK_ANCHOR_SPAN);
}

CASE(zk_anchor, is_read_as_written)
{
	static const char *const bad[] = { "1",
					   "1 ",
					   " ",
					   "x",
					   "1 2 3",
					   "-1 2",
					   "1 0",
					   "1 -2",
					   "1 2x",
					   "1  x",
					   "1 4611686018427387904" };
	struct zk_anchor a = { INT64_MAX, (INT64_C(1) << 62) - 1 }, b;
	char text[ZK_ANCHOR_SIZE];

	dlki_zk_anchor_print(a, text);
	CHECK(dlki_zk_anchor_parse(text, &b));
	CHECK(a.zxid == b.zxid && a.us == b.us);
	CHECK(dlki_zk_anchor_parse("", &b));
	CHECK_INT(b.us, ==, 0);
	dlki_zk_anchor_print(b, text);
	CHECK(text[0] == '\0');
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!dlki_zk_anchor_parse(bad[i], &b));
}
