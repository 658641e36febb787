/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens rise, whatever happens to the file that keeps the tokens. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/state.h"

#define COPY_AT(i) (512 + 512 * (off_t)(i))

static char dir[PATH_MAX];
static const char *file;
static uint64_t last; /* the largest token so far */

static void begin(void)
{
	last = 0;
	store_make(dir);
}

TestSuite(file_token, .init = begin);

/* Acquire the mutex with a new client, and check that the token rises. */
static void rises(unsigned int times)
{
	dlock_client *c = store_open(dir, "keep_file=on");
	dlock_lock *l = mutex(c, "x");

	while (times--)
		last = token_after(last, l);
	end_now(l);
	end_now(c);
	file = store_file(dir, "l", "x");
}

static void overwrite(const char *file, off_t at, const void *data, size_t n)
{
	int fd = open(file, O_WRONLY);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, data, n, at) == (ssize_t)n);
	close(fd);
}

static void spoil(const char *file, off_t at, size_t n)
{
	char rubbish[4096];

	memset(rubbish, 0xA5, sizeof(rubbish));
	overwrite(file, at, rubbish, n);
}

/* Write a token far in the future, so only the file can tell the next token. */
static void far_ahead(void)
{
	struct file_header h;
	struct file_state st;
	int i, fd;

	rises(1);
	fd = open(file, O_RDWR);
	CHECK(fd >= 0);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	st.first = st.last += UINT64_C(1000000000000);
	for (i = 0; i < 2; i++)
		CHECK(dlki_file_store(fd, &st) == 0);
	last = st.last;
	close(fd);
}

CASE(file_token, in_a_tight_loop_and_with_others_between)
{
	dlock_client *c[2];
	dlock_lock *l[2];
	unsigned int i, who, run = 0;

	for (i = 0; i < 2; i++) {
		c[i] = store_open(dir, "keep_file=on");
		l[i] = mutex(c[i], "x");
	}
	/* Runs of all lengths: some run ends within any batch. */
	for (i = who = 0; i < 60000; i++) {
		if (run-- == 0) {
			who = !who;
			run = i / 40;
		}
		last = token_after(last, l[who]);
	}
}

/* Without a watch for other clients' writes, the client reads the file each
 * time. */
CASE(file_token, without_inotify)
{
	dlock_client *c;
	dlock_lock *l;
	int i;

	fail_inotify = EMFILE;
	c = store_open(dir, "keep_file=on");
	l = mutex(c, "x");
	for (i = 0; i < 500; i++) {
		last = token_after(last, l);
		if (i % 50 == 49)
			rises(2);
	}
}

CASE(file_token, one_torn_copy_is_survived)
{
	uint64_t before;
	int i;

	for (i = 0; i < 2; i++) {
		begin();
		far_ahead();
		before = stored_token(dir);
		spoil(file, COPY_AT(i) + 8, 20);
		CHECK(stored_token(dir) == before);
		rises(1);
	}
}

CASE(file_token, a_torn_write_leaves_the_copy_before)
{
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	far_ahead();
	c = store_open(dir, "keep_file=on");
	l = mutex(c, "x");
	short_pwrite = 20;
	CHECK_RC(dlock_acquire(l, 0, &h), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), strerror(ENOSPC));
	end_now(l);
	end_now(c);
	rises(3);
}

CASE(file_token, with_both_copies_bad_it_goes_on_from_the_clock)
{
	rises(5);
	spoil(file, COPY_AT(0), 100);
	spoil(file, COPY_AT(1), 100);
	rises(2);
	CHECK_INT(stored_token(dir), >=, last);
}

CASE(file_token, a_damaged_header_costs_no_token)
{
	far_ahead();
	spoil(file, 30, 50);
	rises(2);
}

/* The tokens of a removed file are ahead of the clock. */
CASE(file_token, a_break_of_an_empty_file_minds_removed_files)
{
	dlock_client *c;
	dlock_lock *l;

	c = store_open(dir, NULL);
	l = mutex(c, "x");
	last = token_after(0, l);
	end_now(l);
	end_now(c);
	file = store_file(dir, "l", "x");
	CHECK(access(file, F_OK) != 0);
	close(open(file, O_CREAT | O_RDWR, 0600));
	clock_back_s = 3600;
	c = store_open(dir, NULL);
	l = mutex(c, "x");
	CHECK_OK(dlock_break(l, FOREVER));
	token_after(last, l);
}

CASE(file_token, an_emptied_file_goes_on_from_the_clock)
{
	dlock_client *c;
	dlock_lock *l;
	int i;

	rises(5);
	/* A client has the file open and draws from memory. */
	c = store_open(dir, "keep_file=on");
	l = mutex(c, "x");
	for (i = 0; i < 200; i++) {
		last = token_after(last, l);
		if (i % 50 == 49)
			CHECK(truncate(file, 0) == 0);
	}
}

/* A lock is not said to be free, either. */
static void refused(const char *part)
{
	dlock_client *c = store_open(dir, "keep_file=on");
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h;
	int n = 0;

	CHECK_RC(dlock_acquire(l, 1000, &h), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), part);
	CHECK_RC(dlock_break(l, FOREVER), DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), part);
	CHECK_RC(dlock_inspect(l, count_participant, &n, patience_ms()),
		 DLOCK_EPROTO);
	CHECK_TEXT(dlock_errmsg(), part);
	CHECK_INT(n, ==, 0);
	end_now(l);
	end_now(c);
}

CASE(file_token, what_is_not_a_lock_file_is_left_alone)
{
	char data[8];
	int fd;

	rises(1);
	spoil(file, 0, 16);
	refused("not a lock file");
	fd = open(file, O_RDONLY);
	CHECK(read(fd, data, sizeof(data)) == sizeof(data));
	CHECK(data[0] == (char)0xA5);
	close(fd);
}

/* The same as in state.c. */
static uint64_t checksum(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = UINT64_C(0x9E3779B97F4A7C15), word;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		h ^= h >> 32;
	}
	return h;
}

/* A good file of an earlier version, with different numbers of kinds. */
CASE(file_token, a_file_of_another_version_is_left_alone)
{
	struct file_header h;
	struct file_state st;
	uint64_t sum;
	int fd;

	rises(1);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	close(fd);
	sum = h.sum;
	CHECK(checksum(&h, offsetof(struct file_header, sum)) == sum);
	h.version = 1;
	h.sum = checksum(&h, offsetof(struct file_header, sum));
	overwrite(file, 0, &h, sizeof(h));
	refused("has format 1, and we know format 2");
	/* A later header, with the sum at another place. */
	h.version = 3;
	overwrite(file, 0, &h, sizeof(h));
	refused("has format 3, and we know format 2");
	h.version = 2;
	h.sum = sum;
	overwrite(file, 0, &h, sizeof(h));
	rises(1);
}

CASE(file_token, another_locks_file)
{
	dlock_client *c;
	dlock_lock *l;
	char other[PATH_MAX];

	c = store_open(dir, "keep_file=on");
	l = mutex(c, "other");
	CHECK_OK(dlock_release(take(l, 0)));
	end_now(l);
	end_now(c);
	strcpy(other, store_file(dir, "l", "other"));
	CHECK(rename(other, store_file(dir, "l", "x")) == 0);
	refused("called 'other'");
}

CASE(file_token, a_counter_at_its_end_is_an_error)
{
	struct file_header h;
	struct file_state st;
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *hold;
	int fd;

	rises(1);
	fd = open(file, O_RDWR);
	CHECK(dlki_file_load(fd, DLK_LOCK, "x", &h, &st) == FILE_GOOD);
	st.last = UINT64_MAX;
	CHECK(dlki_file_store(fd, &st) == 0);
	close(fd);
	c = store_open(dir, "keep_file=on");
	l = mutex(c, "x");
	CHECK_RC(dlock_acquire(l, 0, &hold), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), "tokens");
}
