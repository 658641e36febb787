/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of tokens, set aside for a claim. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/file/state.h"
#include "core/client.h"
#include "support/ticket.h"

static const char *dir;
static dlock_client *c, *d;
static struct ticket t;

static void begin(void)
{
	case_begin();
	dir = store_dir();
	c = store_open(dir, NULL);
	d = store_open(dir, NULL);
}

static uint64_t token_of_next(dlock_client *c)
{
	dlock_lock *l = mutex(c, "x");
	uint64_t token = token_after(0, l);

	end_now(l);
	return token;
}

/* Acquire and watch, and return the end of the range. */
static uint64_t take_range(struct ticket *t, dlock_client *c)
{
	ticket_take(t, c);
	CHECK_INT(ticket_watch(t), ==, 0);
	CHECK(t->base.token_last > t->base.token);
	return t->base.token_last;
}

CASE(file_range, is_stored_and_ends_near_the_clock, .init = begin)
{
	uint64_t begun = dlki_file_time();
	uint64_t last = take_range(&t, c);

	CHECK(last >= begun + DLK_TOKENS_AHEAD);
	CHECK(last <= dlki_file_time() + DLK_TOKENS_AHEAD);
	CHECK(stored_token(dir) == last);
	ticket_give(&t);
}

CASE(file_range, is_longer_after_a_second_call, .init = begin)
{
	uint64_t last = take_range(&t, c);

	EVENTUALLY(ticket_watch(&t) == 0 && t.base.token_last > last);
	CHECK(stored_token(dir) == t.base.token_last);
	ticket_give(&t);
}

CASE(file_range, never_ends_earlier, .init = begin)
{
	uint64_t last = take_range(&t, c);

	clock_back_s = 3600;
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(t.base.token_last == last);
	CHECK(stored_token(dir) == last);
	ticket_give(&t);
	/* The file's tokens are ahead of this clock. */
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(t.base.token_last == t.base.token);
	ticket_give(&t);
}

/* The rest of a batch in memory is part of the range. */
CASE(file_range, follows_a_tight_loop, .init = begin)
{
	uint64_t used = 0;

	for (int i = 0; i < 2000; i++) {
		ticket_take(&t, c);
		CHECK(t.base.token > used);
		used = t.base.token;
		if (i % 100 == 99) {
			CHECK_INT(ticket_watch(&t), ==, 0);
			CHECK(t.base.token_last > used);
			t.base.token_used = used += 3;
		}
		ticket_give(&t);
	}
}

/* The rest of a batch is a range even if no write is needed, and none
 * succeeds. */
CASE(file_range, may_be_the_rest_of_a_batch, .init = begin)
{
	for (int i = 0; i < 20000; i++) {
		ticket_take(&t, c);
		if (i >= 1000 && stored_token(dir) > t.base.token)
			break;
		ticket_give(&t);
	}
	clock_back_s = 3600;
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(t.base.token_last > t.base.token);
	t.base.token_used = t.base.token_last;
	fail_pwrite = EIO;
	ticket_give(&t);
	fail_pwrite = 0;
	CHECK(token_of_next(c) > t.base.token_used);
}

CASE(file_range, what_was_not_used_is_given_back, .init = begin)
{
	uint64_t last = take_range(&t, c), first = t.base.token, token;

	ticket_give(&t);
	CHECK(stored_token(dir) == first);
	token = token_of_next(d);
	CHECK(token > first && token < last);
	last = take_range(&t, c);
	t.base.token_used = last - 1;
	ticket_give(&t);
	CHECK(stored_token(dir) == last - 1);
	CHECK(token_of_next(d) == last);
	take_range(&t, c);
	t.base.token_used = t.base.token_last;
	last = t.base.token_last;
	ticket_give(&t);
	CHECK(token_of_next(c) == last + 1);
}

CASE(file_range, stands_when_the_hold_is_checked, .init = begin)
{
	struct dlk_ticket *renewed;
	uint64_t last = take_range(&t, c);
	enum dlk_renewal verdict = DLK_UNKNOWN;

	renewed = &t.base;
	c->backend->renew(c->session, &renewed, &verdict, 1, DLK_FOREVER, NULL);
	CHECK_INT(verdict, ==, DLK_STANDS);
	CHECK(stored_token(dir) == last);
	ticket_give(&t);
}

/* Readers of either client draw tokens beside the former writer. */
static void downgraded_beside(dlock_client *c, dlock_client *d)
{
	struct ticket t, reader;
	uint64_t last = take_range(&t, c);

	t.base.token_used = t.base.token + 1;
	CHECK_OK(c->backend->downgrade(&t.base, DLK_FOREVER, NULL));
	ticket_make(&reader, d, DLK_SHARED);
	CHECK_INT(ticket_ask(&reader), ==, DLK_GRANTED);
	CHECK(reader.base.token > last);
	ticket_give(&t);
	ticket_give(&reader);
	CHECK(token_of_next(c) > reader.base.token);
}

CASE(file_range, stands_after_a_downgrade, .init = begin)
{
	downgraded_beside(c, c);
	downgraded_beside(c, d);
}

struct mortal {
	char dir[PATH_MAX];
	_Atomic uint64_t last;
};

static void watch_and_die(void *arg)
{
	struct mortal *m = arg;
	struct ticket t;

	m->last = take_range(&t, store_open(m->dir, NULL));
	for (;;)
		pause();
}

CASE(file_range, of_a_killed_watcher_is_left_out)
{
	struct mortal *m = shared(sizeof(*m));
	dlock_client *c;
	struct ticket t;
	pid_t pid;

	store_make(m->dir);
	pid = child(watch_and_die, m);
	EVENTUALLY(m->last);
	child_kill(pid);
	c = store_open(m->dir, NULL);
	CHECK(token_of_next(c) > m->last);
	/* No client waits, and later claims are as usual. */
	ticket_take(&t, c);
	CHECK_INT(ticket_watch(&t), ==, 0);
	ticket_give(&t);
	end_now(c);
	CHECK(access(store_file(m->dir, "l", "x"), F_OK) != 0);
	c = store_open(m->dir, NULL);
	CHECK(token_of_next(c) > m->last);
}

CASE(file_range, of_a_broken_lock_is_left_out, .init = begin)
{
	dlock_lock *l = mutex(d, "x");
	uint64_t last = take_range(&t, c);

	CHECK_OK(dlock_break(l, FOREVER));
	CHECK(token_of_next(d) > last);
	/* A watch of a broken claim sets no tokens aside. */
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ELOST);
	CHECK(t.base.token_last == last);
	last = stored_token(dir);
	t.base.token_used = t.base.token_last;
	ticket_give(&t);
	CHECK(stored_token(dir) == last);
}

/* The path leads to another directory; the store hears of no change. */
CASE(file_range, ends_with_the_directory)
{
	const char *dir = store_dir();
	char store[PATH_MAX + 8], away[PATH_MAX + 8];
	struct ticket t;
	dlock_client *c;

	snprintf(store, sizeof(store), "%s/store", dir);
	snprintf(away, sizeof(away), "%s.away", dir);
	CHECK(mkdir(store, 0700) == 0);
	c = store_open(store, NULL);
	take_range(&t, c);
	CHECK(rename(dir, away) == 0);
	CHECK(mkdir(dir, 0700) == 0 && mkdir(store, 0700) == 0);
	CHECK_INT(ticket_watch(&t), ==, DLOCK_ELOST);
	ticket_give(&t);
	token_of_next(c);
	CHECK(rename(dir, store_file(away, "l", "gone")) == 0);
	CHECK(rename(away, dir) == 0);
}

/* Without a range, the claim is not passed on. */
CASE(file_range, is_empty_if_it_cannot_be_stored, .init = begin)
{
	ticket_take(&t, c);
	fail_pwrite = EIO;
	CHECK_INT(ticket_watch(&t), ==, 0);
	CHECK(t.base.token_last == t.base.token);
	fail_pwrite = 0;
	ticket_give(&t);
	CHECK(token_of_next(c) > t.base.token);
}

static void remember(const struct dlock_participant *p, void *arg)
{
	*(uint64_t *)arg = p->token;
}

/* Only the client knows which token of the range is in use. */
CASE(file_range, hides_the_token_in_use, .init = begin)
{
	dlock_lock *l[2] = { mutex(c, "x"), mutex(d, "x") };
	uint64_t token;

	ticket_take(&t, c);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(dlock_inspect(l[i], remember, &token, FOREVER));
		CHECK(token == t.base.token);
	}
	CHECK_INT(ticket_watch(&t), ==, 0);
	for (int i = 0; i < 2; i++) {
		token = 1;
		CHECK_OK(dlock_inspect(l[i], remember, &token, FOREVER));
		CHECK(token == 0);
	}
	ticket_give(&t);
}
