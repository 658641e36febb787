/* SPDX-License-Identifier: Apache-2.0 */
/* What memcached forgets is found out in time, and the next token is larger. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/run.h"

/* The hold is gone from the store since `since_ms`. */
static void is_lost(const struct scene *s, dlock_client *c, dlock_lock *l,
		    dlock_hold *h, int64_t since_ms)
{
	uint64_t token = dlock_token(h);

	found_lost(h, c, since_ms);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	grown_up(s);
	h = take(l);
	CHECK(dlock_token(h) > token);
	give(h);
}

EITHER_WAY(memcached_loss, flush_all)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_client *other = direct(&s, "ttl=3s");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = take(l), *next;
	int64_t since = now_ms();

	CHECK_INT(lab_memcached_do(s.server, NULL, 0, "flush_all"), ==, 0);
	next = take(mutex(other, "x"));
	CHECK(dlock_token(next) > dlock_token(h));
	found_lost(h, c, since);
	CHECK_OK(dlock_check(next));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	/* Neither the loss nor that release has cost the next one anything. */
	ask(l, 0, DLOCK_EBUSY);
	CHECK_OK(dlock_check(next));
	give(next);
	scene_end(&s);
}

EITHER_WAY(memcached_loss, restart)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=3s");
	dlock_lock *l = mutex(c, "x");

	for (int i = 0; i < 2; i++) {
		dlock_hold *h = take(l);
		/* Away for a moment, and for half a lease. */
		int64_t since = now_ms(), away_ms = i * dlock_ttl_ms(c) / 2;

		CHECK_INT(lab_server_kill(s.server), ==, 0);
		nap_ms(away_ms);
		CHECK_INT(lab_server_restart(s.server, false), ==, 0);
		CHECK_INT(now_ms() - since, <, away_ms + 1000);
		is_lost(&s, c, l, h, i ? now_ms() : since);
	}
	scene_end(&s);
}

/* Away for longer than one lease, and not as long as another. */
EITHER_WAY(memcached_loss, restart_after_5_s)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *quick = direct(&s, "ttl=3s");
	dlock_client *slow = direct(&s, "ttl=12s");
	dlock_lock *x = mutex(quick, "x"), *y = mutex(slow, "y");
	dlock_hold *over = take(x), *waits = take(y);
	int64_t since = now_ms();

	CHECK_INT(lab_server_kill(s.server), ==, 0);
	EVENTUALLY(dlock_check(over) == DLOCK_ELOST);
	CHECK_INT(now_ms() - since, <=, 3000 + slack_ms());
	nap_ms(since + dlock_ttl_ms(quick) * 5 / 3 - now_ms());
	CHECK_OK(dlock_check(waits));
	CHECK_INT(lab_server_restart(s.server, false), ==, 0);
	is_lost(&s, slow, y, waits, now_ms());
	CHECK_RC(dlock_release(over), DLOCK_ELOST);
	give(take(x));
	scene_end(&s);
}

static dlock_hold *take_kind(dlock_client *c, int kind)
{
	dlock_lock *l = NULL;
	dlock_hold *h = NULL;

	CHECK_OK(kind == 0 ? dlock_mutex_new(&l, c, "x") :
		 kind == 3 ? dlock_semaphore_new(&l, c, "x", 2) :
			     dlock_rwlock_new(&l, c, "x"));
	CHECK_OK(kind == 2 ? dlock_acquire_shared(l, 20000, &h) :
			     dlock_acquire(l, 20000, &h));
	dlock_lock_free(l);
	return h;
}

/* No renewal was due yet: the release is what finds it. */
EITHER_WAY(memcached_loss, seen_by_the_release)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *c = direct(&s, "ttl=30s");
	dlock_client *other = direct(&s, "ttl=30s");

	for (int kind = 0; kind < 4; kind++) {
		for (int taken = 0; taken < 2; taken++) {
			dlock_hold *h = take_kind(c, kind), *next = NULL;

			CHECK_INT(lab_memcached_do(s.server, NULL, 0,
						   "flush_all"),
				  ==, 0);
			if (taken)
				next = take_kind(other, kind);
			CHECK_OK(dlock_check(h));
			CHECK_RC(dlock_release(h), DLOCK_ELOST);
			CHECK_TEXT(dlock_errmsg(), "no longer had it");
			if (taken)
				give(next);
			give(take_kind(c, kind));
		}
	}
	scene_end(&s);
}

/* What a mutex's item says; and put something there, with `verb`. */
static void text_of_x(const struct scene *s, char text[512])
{
	char reply[512], *data;

	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply),
				   with_key(s, "get %s", "lnx")),
		  ==, 0);
	data = strstr(reply, "\r\n");
	CHECK(data);
	snprintf(text, 512, "%.*s", (int)strcspn(data + 2, "\r"), data + 2);
}

static void put_x(const struct scene *s, const char *verb, const char *text)
{
	char request[640], reply[64];

	snprintf(request, sizeof(request), "%s %s 0 30 %zu\r\n%s", verb,
		 key_of(s, "lnx"), strlen(text), text);
	CHECK_INT(lab_memcached_do(s->server, reply, sizeof(reply), request),
		  ==, 0);
	CHECK_TEXT(reply, "STORED");
}

/* An `add` that arrives after all was lost, and was sent before that: not the
 * one that was granted, but one before or after it. */
static void add_again(const struct scene *s)
{
	char text[512], item[640], format[16], owner[64];
	int len = 0;

	text_of_x(s, text);
	CHECK_INT(sscanf(text, "%15s %63s %*s %n", format, owner, &len), ==, 2);
	snprintf(item, sizeof(item), "%s %s 0.77 %s", format, owner,
		 text + len);
	CHECK_INT(lab_memcached_do(s->server, NULL, 0, "flush_all"), ==, 0);
	put_x(s, "add", item);
}

/* A server before 1.6.24 that moves an item gives it another cas. */
EITHER_WAY(memcached_loss, is_none_where_the_item_was_moved)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *quick = direct(&s, "ttl=3s");
	dlock_client *slow = direct(&s, "ttl=30s");
	struct dlock_stats stats = { .size = sizeof(stats) };
	dlock_lock *l = mutex(slow, "x");
	dlock_hold *h = take(mutex(quick, "x"));
	char text[512];

	for (int i = 0; i < 2; i++) {
		uint64_t renewed;

		text_of_x(&s, text);
		put_x(&s, "set", text);
		CHECK_OK(dlock_get_stats(quick, &stats));
		renewed = stats.renewed;
		EVENTUALLY(dlock_get_stats(quick, &stats) == 0 &&
			   stats.renewed > renewed);
		CHECK_OK(dlock_check(h));
	}
	give(h);
	h = take(l);
	text_of_x(&s, text);
	put_x(&s, "set", text);
	give(h);
	give(take(l));
	scene_end(&s);
}

/* Before it others may have come and gone. */
EITHER_WAY(memcached_loss, is_not_made_good_by_a_late_add)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_client *quick = direct(&s, "ttl=3s");
	dlock_client *slow = direct(&s, "ttl=30s");
	dlock_hold *h = take(mutex(quick, "x"));
	int64_t since;

	add_again(&s);
	since = now_ms();
	found_lost(h, quick, since);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	h = take(mutex(slow, "x"));
	add_again(&s);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	scene_end(&s);
}
