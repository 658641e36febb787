/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers, and the grant of shares. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "backends/file/bytes.h"

static void wait_to_write(void *arg)
{
	struct scene *s = arg;
	dlock_client *c = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x");

	EVENTUALLY(s->reading);
	take(l, FOREVER);
	s->granted = 1;
	for (;;)
		pause();
}

/* Stop the writer once the writer has locked the gate, so later readers stay
 * out. */
static void stop_when_at_the_gate(pid_t writer, struct scene *s, dlock_lock *l)
{
	dlock_hold *h;

	s->reading = 1;
	for (int i = 0; dlock_acquire_shared(l, 0, &h) == DLOCK_OK; i++) {
		CHECK_OK(dlock_release(h));
		CHECK_INT(i, <, 1000);
		nap_ms(10);
	}
	CHECK(kill(writer, SIGSTOP) == 0);
}

/* Readers that pass a stopped writer share the lock. The writer has a turn once
 * the first of the readers has gone. */
CASE(file_rwlock, readers_pass_a_stopped_writer_together)
{
	struct scene *s = scene();
	pid_t writer = child(wait_to_write, s);
	dlock_client *c = store_open(s->dir, NULL);
	dlock_client *d = store_open(s->dir, NULL);
	dlock_lock *l = rwlock(c, "x"), *m = rwlock(d, "x");
	dlock_hold *h = take_shared(l, 0), *h2;

	stop_when_at_the_gate(writer, s, m);
	CHECK_OK(dlock_release(h));
	h = take_shared(l, patience_ms());
	h2 = take_shared(m, 0);
	CHECK(kill(writer, SIGCONT) == 0);
	CHECK_OK(dlock_release(h));
	CHECK_RC(dlock_acquire_shared(l, 0, &h), DLOCK_EBUSY);
	CHECK(!s->granted);
	CHECK_OK(dlock_release(h2));
	EVENTUALLY(s->granted);
	child_kill(writer);
}

/* ---- Shares that are being given out ------------------------------------- */

static void lock_bytes(int fd, short type, off_t at, off_t len)
{
	struct flock fl = { .l_type = type,
			    .l_whence = SEEK_SET,
			    .l_start = at,
			    .l_len = len };

	CHECK(fcntl(fd, F_OFD_SETLK, &fl) == 0);
}

/* Lock or unlock the byte that is locked during the grant of a share. */
static void seal(int fd, short type)
{
	lock_bytes(fd, type, FILE_SEAL, 1);
}

static void *unseal_later(void *fd)
{
	nap_ms(15); /* of the 40 that an attempt waits */
	seal(*(int *)fd, F_UNLCK);
	return NULL;
}

static void *refused_share(void *lock)
{
	dlock_hold *h;

	CHECK_RC(dlock_acquire_shared(lock, 0, &h), DLOCK_EBUSY);
	return NULL;
}

static void *refused(void *lock)
{
	dlock_hold *h;

	CHECK_RC(dlock_acquire(lock, 0, &h), DLOCK_EBUSY);
	return NULL;
}

/* Return how long eight threads take to be refused. */
static int64_t refused_in(dlock_lock *l, void *(*run)(void *lock))
{
	int64_t begin = now_ms();
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&t[i], NULL, run, l) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	return now_ms() - begin;
}

/* The grant of a share to another client does not refuse an attempt: even with
 * timeout 0, the attempt waits for the other client's system calls. If the
 * other client is stopped, eight attempts wait for 40 ms at the same time, not
 * in turn. */
CASE(file_rwlock, a_share_is_not_refused_for_those_of_others)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = rwlock(c, "x");
	dlock_hold *h;
	int fd, i, rc = DLOCK_EBUSY;
	pthread_t t;

	CHECK_OK(dlock_release(take_shared(l, 0)));
	fd = open(store_file(dir, "l", "x"), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	for (i = 0; i < 8 && rc == DLOCK_EBUSY; i++) {
		seal(fd, F_WRLCK);
		CHECK(pthread_create(&t, NULL, unseal_later, &fd) == 0);
		rc = dlock_acquire_shared(l, 0, &h);
		CHECK(pthread_join(t, NULL) == 0);
	}
	CHECK_OK(rc);
	CHECK_OK(dlock_release(h));
	seal(fd, F_WRLCK);
	CHECK_WITHIN(refused_in(l, refused_share), 240);
	close(fd);
}

/* Likewise if the client is stopped that removes the file, with all bytes
 * locked. */
CASE(file_rwlock, a_stopped_removal_holds_up_all_writers_at_once)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = rwlock(c, "x");
	int fd;

	CHECK_OK(dlock_release(take(l, 0)));
	fd = open(store_file(dir, "l", "x"), O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	lock_bytes(fd, F_WRLCK, 0, 0);
	CHECK_WITHIN(refused_in(l, refused), 240);
	close(fd);
}
