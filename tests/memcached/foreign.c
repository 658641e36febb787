/* SPDX-License-Identifier: Apache-2.0 */
/* Items at the place of a lock that no dlock wrote. */
#include "support.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "support/hostile.h"

static atomic_int warnings;

static void count_warnings(const struct dlock_log_line *line, void *arg)
{
	(void)arg;
	if (line->level == 1 && strstr(line->text, ".lnx'"))
		atomic_fetch_add(&warnings, 1);
}

/* It never expires: a waiter is told what to do. */
EITHER_WAY(memcached_foreign, item_that_never_ends_is_told)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;
	dlock_lock *l = NULL;
	char uri[96];

	CHECK_INT(
		lab_memcached_do(s.server, NULL, 0,
				 with_key(&s, "set %s 0 0 5\r\nhello", "lnx")),
		==, 0);
	o.on_log = count_warnings;
	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?protocol=%s&ask=2s", s.server->port,
		 protocol);
	CHECK_OK(dlock_open(&c, uri, &o));
	CHECK_OK(dlock_mutex_new(&l, c, "x"));
	for (int i = 0; i < 3; i++) {
		ask(l, i * 100, DLOCK_EBUSY);
		CHECK_TEXT(dlock_errmsg(), "lock 'x'");
		CHECK_TEXT(dlock_errmsg(), key_of(&s, "lnx"));
		CHECK_TEXT(dlock_errmsg(), "delete");
	}
	CHECK_INT(atomic_load(&warnings), ==, 1);
	CHECK_INT(lab_memcached_do(s.server, NULL, 0,
				   with_key(&s, "delete %s", "lnx")),
		  ==, 0);
	give(take(l));
	dlock_lock_free(l);
	dlock_close(c);
	scene_end(&s);
}

static void keep_remaining(const struct dlock_participant *p, void *arg)
{
	*(int64_t *)arg = p->remaining_ms;
}

/* A number of seconds that no memcached says. */
Test(memcached_foreign, item_with_too_much_time)
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
	hostile_free(h);
	scene_end(&s);
}
