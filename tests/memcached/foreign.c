/* SPDX-License-Identifier: Apache-2.0 */
/* An item with a longer life than memcached knows. */
#include "support.h"

#include <string.h>

#include "support/hostile.h"

static void keep_remaining(const struct dlock_participant *p, void *arg)
{
	*(int64_t *)arg = p->remaining_ms;
}

CASE(memcached_foreign, item_with_too_much_time)
{
	static const char item[] =
		"VA 44 c7 t9223372036854775807\r\n"
		"dlock1 0123456789abcdef0123456789abcdef 0 0 \r\n";
	enum { SLOTS = 64 };
	char answer[sizeof(item) + SLOTS * 4];
	size_t len = sizeof(item) - 1;
	struct scene s = scene_new("meta", NULL);
	struct hostile *h = hostile_start(s.server);
	dlock_client *c = by_port(&s, hostile_port(h), "");
	dlock_lock *l = mutex(c, "x");
	int64_t remaining_ms = -2;

	memcpy(answer, item, len);
	for (int i = 0; i < SLOTS; i++, len += 4)
		memcpy(answer + len, "EN\r\n", 4);
	hostile_say(h, "^mg ", answer, len);
	CHECK_OK(
		dlock_inspect(l, keep_remaining, &remaining_ms, patience_ms()));
	CHECK_INT(hostile_lies(h), >=, 1);
	CHECK_INT(remaining_ms, ==, -1);
}
