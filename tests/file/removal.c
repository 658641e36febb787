/* SPDX-License-Identifier: Apache-2.0 */
/* Removed lock files: holders learn of the removal, and no client locks a
 * removed file. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/file/bytes.h"

/* The loss shows at once: a check each third of the ttl would take ten
 * seconds. */
static void lost_soon(dlock_hold *h)
{
	int64_t begin = now_ms();

	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - begin, <, 5000);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}

/* `spoil` takes the lock from the holder, and the next holder has a larger
 * token. */
static void spoilt(void (*spoil)(const char *dir, const char *file))
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, "ttl=30s");
	dlock_client *b = store_open(dir, "ttl=30s");
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_hold *ha, *hb;
	uint64_t token;

	ha = take(la, 0);
	token = dlock_token(ha);
	CHECK_RC(dlock_acquire(lb, 0, &hb), DLOCK_EBUSY);
	spoil(dir, store_file(dir, "l", "x"));
	hb = take(lb, 0);
	CHECK(dlock_token(hb) > token);
	lost_soon(ha);
	/* Both clients meet at the new file again. */
	CHECK_RC(dlock_acquire(la, 0, &ha), DLOCK_EBUSY);
	CHECK_OK(dlock_release(hb));
	CHECK_OK(dlock_release(take(la, 0)));
}

static void by_unlink(const char *dir, const char *file)
{
	(void)dir;
	CHECK(unlink(file) == 0);
}

static void by_rename(const char *dir, const char *file)
{
	char to[PATH_MAX + 16];

	snprintf(to, sizeof(to), "%s/aside", dir);
	CHECK(rename(file, to) == 0);
}

static void move_the_directory(const char *dir, const char *tail)
{
	char to[PATH_MAX + 16];

	snprintf(to, sizeof(to), "%s-%s", dir, tail);
	CHECK(rename(dir, to) == 0);
	CHECK(mkdir(dir, 0700) == 0);
}

static void by_moving_the_directory(const char *dir, const char *file)
{
	(void)file;
	move_the_directory(dir, "aside");
}

static void by_removing_the_directory(const char *dir, const char *file)
{
	CHECK(unlink(file) == 0);
	CHECK(rmdir(dir) == 0);
}

static void use_thrice(dlock_lock *l)
{
	for (int i = 0; i < 3; i++)
		CHECK_OK(dlock_release(take(l, 0)));
}

/* Without a watch of the new directory, the client checks the path at each
 * grant. */
CASE(file_removal, of_a_directory_that_cannot_be_watched)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL), *d = store_open(dir, NULL);
	dlock_lock *lc = mutex(c, "x"), *ld = mutex(d, "x");
	dlock_hold *h;

	use_thrice(lc);
	move_the_directory(dir, "first");
	fail_watch = ENOSPC;
	use_thrice(lc);
	fail_watch = 0;
	use_thrice(lc);
	move_the_directory(dir, "second");
	h = take(ld, 0);
	CHECK_RC(dlock_acquire(lc, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	CHECK_OK(dlock_release(h));
	use_thrice(lc);
}

CASE(file_removal, unlinked_while_held)
{
	spoilt(by_unlink);
}

CASE(file_removal, moved_while_held)
{
	spoilt(by_rename);
}

CASE(file_removal, the_directory_moved_while_held)
{
	spoilt(by_moving_the_directory);
}

CASE(file_removal, the_directory_removed_while_held)
{
	spoilt(by_removing_the_directory);
}

/* dlock_inspect(), dlock_list() and dlock_break() use the current directory. */
CASE(file_removal, the_directory_replaced_before_a_question)
{
	const char *dir = store_dir();
	char old[PATH_MAX + 8];
	dlock_lock *la, *lb, *other;
	int participants = 0, entries = 0;
	dlock_client *a, *b;
	dlock_hold *h;

	snprintf(old, sizeof(old), "%s-aside", dir);
	a = store_open(dir, NULL);
	la = mutex(a, "x");
	CHECK_OK(dlock_release(take(la, 0)));
	CHECK(rename(dir, old) == 0);
	b = store_open(dir, NULL);
	lb = mutex(b, "x");
	other = mutex(b, "y");
	h = take(lb, 0);
	CHECK_OK(dlock_release(take(other, 0)));
	CHECK_OK(dlock_inspect(la, count_participant, &participants, 1000));
	CHECK_INT(participants, ==, 1);
	CHECK_OK(dlock_list(a, count_entry, &entries, 1000));
	CHECK_INT(entries, ==, 2);
	CHECK_OK(dlock_break(la, 1000));
	lost_soon(h);
}

/* A client with the removed file open must never lock that file, not even for a
 * moment: another client holds the new file. */
CASE(file_removal, no_acquire_on_a_removed_file)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_hold *h, *hb;
	int i, k;

	for (i = 0; i < 300; i++) {
		/* After 100 acquires, tokens come from memory. */
		for (k = 0; k < (i % 3 == 0 ? 100 : 1); k++)
			CHECK_OK(dlock_release(take(la, 0)));
		if (i % 2)
			by_unlink(dir, store_file(dir, "l", "x"));
		else
			by_rename(dir, store_file(dir, "l", "x"));
		hb = take(lb, 0);
		CHECK_RC(dlock_acquire(la, 0, &h), DLOCK_EBUSY);
		CHECK_OK(dlock_release(hb));
	}
}

CASE(file_removal, unlinked_while_another_waits)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_client *d = store_open(dir, NULL);
	dlock_lock *ld = mutex(d, "x");
	dlock_hold *ha = take(mutex(a, "x"), 0), *hd;
	struct taker w = { .linger = 1 };
	int64_t begin;

	taker_start(&w, mutex(b, "x"), FOREVER);
	EVENTUALLY(stats(b).waiters == 1);
	begin = now_ms();
	by_unlink(dir, store_file(dir, "l", "x"));
	EVENTUALLY(w.done);
	CHECK_INT(now_ms() - begin, <, 5000);
	lost_soon(ha);
	/* The waiter has the new file. */
	CHECK_RC(dlock_acquire(ld, 0, &hd), DLOCK_EBUSY);
	CHECK_OK(let_go(&w));
	CHECK_OK(w.release_rc);
}

CASE(file_removal, without_inotify_within_a_third_of_the_ttl)
{
	char dir[PATH_MAX];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	fail_inotify = 24;
	store_make(dir);
	c = store_open(dir, "ttl=300ms");
	l = mutex(c, "x");
	h = take(l, 0);
	by_unlink(dir, store_file(dir, "l", "x"));
	lost_soon(h);
}

static void *break_again_and_again(void *arg)
{
	for (int i = 0; i < 150; i++)
		CHECK_OK(dlock_break(arg, patience_ms()));
	return NULL;
}

/* Each break puts another file in the lock's place. */
CASE(file_removal, broken_by_several_at_once)
{
	dlock_client *c = store_open(store_dir(), NULL);
	dlock_lock *l = mutex(c, "x");
	pthread_t thread[3];
	dlock_hold *h;
	uint64_t last;

	h = take(l, 0);
	last = dlock_token(h);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&thread[i], NULL, break_again_and_again,
				     l) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	lost_soon(h);
	h = take(l, 1000);
	CHECK(dlock_token(h) > last);
	CHECK_OK(dlock_release(h));
}

/* Another client raises the floor, which is 16 bytes long. */
CASE(file_removal, the_floor_is_read_while_it_is_raised)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = mutex(c, "x");
	uint64_t last = token_after(0, l);

	end_now(l);
	end_now(c);
	clock_back_s = 3600;
	torn_pread = 16;
	token_after(last, mutex(store_open(dir, NULL), "x"));
	CHECK(!torn_pread);
}

static dlock_lock *the_lock;
static uint64_t last_token;

/* The holder draws a last token, and the breaker goes no further. */
static void draw_and_fail(void)
{
	last_token = token_after(0, the_lock);
	fail_pwrite = EIO;
}

CASE(file_removal, a_break_that_ends_halfway_minds_the_last_holder)
{
	the_lock = mutex(store_open(store_dir(), NULL), "x");
	token_after(0, the_lock);
	before_rename = draw_and_fail;
	CHECK_RC(dlock_break(the_lock, FOREVER), DLOCK_ESYSTEM);
	fail_pwrite = 0;
	clock_back_s = 3600;
	token_after(last_token, the_lock);
}

/* Open the floor for writing, and lock it. */
static int locked_floor(const char *dir, int flags)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/dlock.~floor", dir);
	if (flags & O_CREAT)
		CHECK(unlink(path) == 0);
	fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	CHECK(fd >= 0 && dlki_file_lock(fd, F_WRLCK, FILE_MAIN) == 1);
	return fd;
}

static void *break_once(void *arg)
{
	CHECK_OK(dlock_break(arg, patience_ms()));
	return NULL;
}

/* Each break that waits for the floor has an inotify descriptor for it. */
CASE(file_removal, of_the_floor_that_a_break_waits_for)
{
	const char *dir = store_dir();
	dlock_lock *l = mutex(store_open(dir, NULL), "x");
	int old, fresh, begun;
	pthread_t thread;

	token_after(0, l);
	CHECK_OK(dlock_break(l, patience_ms()));
	old = locked_floor(dir, 0);
	begun = inotify_inits;
	CHECK(pthread_create(&thread, NULL, break_once, l) == 0);
	EVENTUALLY(inotify_inits == begun + 1);
	fresh = locked_floor(dir, O_CREAT | O_EXCL);
	CHECK(close(old) == 0);
	EVENTUALLY(inotify_inits == begun + 2);
	CHECK(close(fresh) == 0);
	pthread_join(thread, NULL);
}
