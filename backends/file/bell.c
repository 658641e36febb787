/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, and being waited for: who knocks and who rings.
 *
 * The kernel reports neither that a byte was unlocked nor that somebody wants
 * it.  So who waits *knocks* (opens the file read-only and closes it), which
 * holders listen for; and who releases after a knock *rings* (closes a
 * description that may write), which waiters listen for.  Who has heard no
 * knock does not ring: a release with nobody waiting is one system call.
 *
 * No wake-up is lost.  A waiter listens, then knocks, then looks; if that look
 * finds the byte locked, the knock was in the holder's queue before the unlock.
 * The holder's thread takes it out (a) before the release, which then rings, or
 * (b) after it; `unrung` tells that the release was silent, and the thread
 * rings in its stead.  Who does not listen for knocks (it waited itself, a
 * moment ago) rings at every release.
 *
 * A killed holder rings too, as the kernel closes its descriptions; but a
 * moment *before* its locks go, so that a waiter that finds the same holder
 * after a ring looks again several times.
 */
#include "file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SETTLE_NS INT64_C(64000000)
#define CHUNK 64

/* The next of those who wait and were not told in this round. */
static unsigned int collect(struct file_name *n, unsigned int round,
			    uint64_t id[CHUNK])
{
	struct file_ticket *t;
	unsigned int count = 0;

	for (t = n->waiting.head; t && count < CHUNK; t = t->next) {
		if (t->round == round)
			continue;
		t->round = round;
		t->soons = 0;
		id[count++] = t->base.id;
	}
	return count;
}

/* Without n->mu: who wakes up takes that at once.  And let them run, where they
 * share a processor with us: what we have to do yet is of less importance. */
static void wake(struct file_name *n, const uint64_t id[], unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		dlk_wake(&n->session->base, id[i]);
	if (count)
		sched_yield();
}

/* In portions. */
static void wake_round(struct file_name *n, unsigned int round)
{
	uint64_t id[CHUNK];
	unsigned int count;

	do {
		pthread_mutex_lock(&n->mu);
		count = collect(n, round, id);
		pthread_mutex_unlock(&n->mu);
		wake(n, id, count);
	} while (count == CHUNK);
}

void dlki_file_wake_all(struct file_name *n)
{
	unsigned int round;

	pthread_mutex_lock(&n->mu);
	round = ++n->round;
	pthread_mutex_unlock(&n->mu);
	wake_round(n, round);
}

static int listen_for(struct file_name *n, uint32_t what)
{
	struct file_session *s = n->session;
	int wd;

	if (n->wd < 0 || n->hears == what)
		return n->wd < 0 ? -1 : 0;
	/* By path, which is twice as fast; another file there has another
	 * number. */
	wd = inotify_add_watch(s->inotify, n->path, what | FILE_GONE);
	if (wd < 0)
		return -1;
	if (wd != n->wd) {
		(void)inotify_rm_watch(s->inotify, wd);
		dlki_file_name_stale(n);
		return -1;
	}
	n->hears = what;
	return 0;
}

/* Are there events that the watcher has not taken out yet? */
static int pending(const struct file_session *s)
{
	int bytes;

	return ioctl(s->inotify, FIONREAD, &bytes) < 0 || bytes;
}

/* Open and close, which everybody hears who listens for that. */
static int touch(struct file_name *n, int mode)
{
	int fd = openat(n->session->dirfd, n->file,
			mode | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	return close(fd);
}

int dlki_file_knock(struct file_name *n)
{
	uint32_t what = FILE_RING | (n->held ? FILE_KNOCK : 0);

	n->knocks++;
	if (n->hears != what) {
		/* From now on we may be deaf.  Who knocked before, at what we
		 * released in silence, is rung for now; or by the watcher, if
		 * it has taken that knock out and waits for n->mu. */
		if (n->unrung && pending(n->session)) {
			n->unrung = 0;
			(void)touch(n, O_WRONLY);
		}
		if (listen_for(n, what) < 0)
			return -1;
	}
	return touch(n, O_RDONLY);
}

void dlki_file_ring(struct file_name *n)
{
	int fd = -1;

	/* One that is kept for the next acquire is the quickest to close; that
	 * acquire opens another while nobody waits for it. */
	pthread_mutex_lock(&n->mu);
	if (n->n_fds)
		fd = n->fds[--n->n_fds];
	pthread_mutex_unlock(&n->mu);
	if (fd >= 0)
		dlki_file_fds_close(fd);
	else
		touch(n, O_WRONLY);
}

int dlki_file_released(struct file_name *n)
{
	int ring = n->contended || !(n->hears & FILE_KNOCK);

	n->contended = 0;
	n->unrung = !ring;
	/* Not to hear our own ring. */
	if (ring && !n->waiting.head)
		(void)listen_for(n, FILE_KNOCK);
	return ring;
}

/* Who was woken by a ring listens again before it waits again.  Until then our
 * own rings would only wake this thread.  The release sees to that too; not to
 * get in the way of who was woken. */
static void hear_no_more(struct file_name *n, unsigned int knocks)
{
	if (pthread_mutex_trylock(&n->mu))
		return;
	if (n->knocks == knocks && (n->hears & FILE_RING))
		(void)listen_for(n, FILE_KNOCK);
	pthread_mutex_unlock(&n->mu);
}

/* With n->mu held: is a ring due? */
int dlki_file_knocked(struct file_name *n)
{
	/* Who holds a mutex again will ring for both releases. */
	int ring = n->unrung && !(n->held && n->key[0] == 'm');

	n->unrung = 0;
	if (n->held)
		n->contended = 1;
	return ring;
}

void dlki_file_rung(struct file_name *n)
{
	unsigned int knocks, count, round;
	uint64_t id[CHUNK];

	pthread_mutex_lock(&n->mu);
	n->settle_until = dlk_now() + SETTLE_NS;
	knocks = n->knocks;
	round = ++n->round;
	count = collect(n, round, id);
	pthread_mutex_unlock(&n->mu);
	wake(n, id, count);
	if (count == CHUNK)
		wake_round(n, round);
	hear_no_more(n, knocks);
}
