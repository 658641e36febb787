/* SPDX-License-Identifier: Apache-2.0 */
#include "torture/torture.h"

#include <errno.h>
#include <string.h>

#include "fake.h"
#include "support/hold.h"

static void hear(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	(void)hold;
	(void)event;
	(void)why;
	(void)arg;
}

static void read_line(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	(void)arg;
}

dlock_client *open_it(struct play *p)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.on_event = hear;
	o.on_log = read_line;
	o.once = 1; /* else the open bridges a single failure */
	errno = 4711;
	if (!MAY(p, dlock_open(&c, p->uri, &o), DLOCK_OK))
		MUST(p, c == NULL);
	MUST(p, errno == 4711);
	return c;
}

static void look_at_fd(struct play *p, dlock_hold *h)
{
	int fd = dlock_hold_fd(h);

	may(p, "dlock_hold_fd(h)", fd < 0 ? fd : DLOCK_OK, DLOCK_OK);
}

static void play_open(struct play *p)
{
	dlock_close(open_it(p));
}

static void play_label(struct play *p)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_client *c = NULL;

	o.label = "somebody";
	o.password = "secret";
	MAY(p, dlock_open(&c, p->uri, &o), DLOCK_OK);
	dlock_close(c);
}

static void play_locks(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *l[4] = { NULL };

	if (!c)
		return;
	MAY(p, dlock_mutex_new(&l[0], c, "torture/mutex"), DLOCK_OK);
	MAY(p, dlock_rwlock_new(&l[1], c, "rw"), DLOCK_OK);
	MAY(p, dlock_semaphore_new(&l[2], c, "sem", 3), DLOCK_OK);
	MAY(p, dlock_semaphore_new(&l[3], c, "sem", l[2] ? 3 : 4), DLOCK_OK);
	for (int i = 0; i < 4; i++)
		dlock_lock_free(l[i]);
	dlock_close(c);
}

static void play_acquire(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h = NULL, *again = NULL;
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK)) {
		MUST(p, dlock_check(h) == DLOCK_OK);
		MUST(p, dlock_acquire(l, 0, &again) == DLOCK_OK);
		look_at_fd(p, h);
		release(p, again);
	}
	release(p, h);
	dlock_lock_free(l);
	dlock_close(c);
}

/* Every id, every heap and the pool of random bytes has to grow. */
static void play_many(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h[70] = { NULL };
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_semaphore_new(&l, c, "s", 70), DLOCK_OK)) {
		for (int i = 0; i < 70; i++)
			MAY(p, dlock_acquire(l, 2000, &h[i]), DLOCK_OK);
	}
	for (int i = 0; i < 70; i++)
		release(p, h[i]);
	dlock_lock_free(l);
	dlock_close(c);
}

static void play_contended(struct play *p)
{
	dlock_client *a = open_it(p), *b = open_it(p);
	dlock_lock *la = NULL, *lb = NULL;
	dlock_hold *h = NULL, *none = NULL;

	if (a && b && MAY(p, dlock_mutex_new(&la, a, "m"), DLOCK_OK) &&
	    MAY(p, dlock_mutex_new(&lb, b, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(la, 2000, &h), DLOCK_OK)) {
		MAY(p, dlock_acquire(lb, 0, &none), DLOCK_EBUSY);
		MAY(p, dlock_acquire(lb, 5, &none), DLOCK_EBUSY);
		MUST(p, none == NULL);
	}
	release(p, h);
	if (h && MAY(p, dlock_acquire(lb, 2000, &none), DLOCK_OK))
		release(p, none);
	dlock_lock_free(la);
	dlock_lock_free(lb);
	dlock_close(a);
	dlock_close(b);
}

struct waiter {
	struct play play;
	dlock_lock *lock;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	dlock_hold *h = NULL;

	if (MAY(&w->play, dlock_acquire(w->lock, 5000, &h), DLOCK_OK))
		release(&w->play, h);
	return NULL;
}

static void play_handed_on(struct play *p)
{
	dlock_client *c = open_it(p);
	struct waiter w = { .play = *p };
	dlock_hold *h = NULL;
	pthread_t thread;

	if (c && MAY(p, dlock_semaphore_new(&w.lock, c, "s", 1), DLOCK_OK) &&
	    MAY(p, dlock_acquire(w.lock, 2000, &h), DLOCK_OK)) {
		MUST(p, seam_thread(&thread, wait_for_it, &w) == 0);
		release(p, h);
		pthread_join(thread, NULL);
		if (w.play.failed)
			*p = w.play;
	}
	dlock_lock_free(w.lock);
	dlock_close(c);
}

static void play_rwlock(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *w = NULL, *r = NULL;
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_rwlock_new(&l, c, "rw"), DLOCK_OK)) {
		if (MAY(p, dlock_acquire(l, 2000, &w), DLOCK_OK))
			MAY(p, dlock_acquire_shared(l, 0, &r), DLOCK_OK);
		release(p, w);
		release(p, r);
		r = NULL;
		MAY(p, dlock_acquire_shared(l, 2000, &r), DLOCK_OK);
		release(p, r);
	}
	dlock_lock_free(l);
	dlock_close(c);
}

static void play_multi(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_lock *l[3] = { NULL }, *all = NULL;
	dlock_hold *h = NULL;

	if (c && MAY(p, dlock_mutex_new(&l[0], c, "x"), DLOCK_OK) &&
	    MAY(p, dlock_rwlock_new(&l[1], c, "y"), DLOCK_OK) &&
	    MAY(p, dlock_semaphore_new(&l[2], c, "x", 2), DLOCK_OK) &&
	    MAY(p, dlock_multi_new(&all, l, 3), DLOCK_OK) &&
	    MAY(p, dlock_acquire(all, 2000, &h), DLOCK_OK)) {
		look_at_fd(p, h);
		release(p, h);
	}
	dlock_lock_free(all);
	for (int i = 0; i < 3; i++)
		dlock_lock_free(l[i]);
	dlock_close(c);
}

/* The background releases the residue of an unanswered acquire. */
static void count_participants(struct play *p, dlock_lock *l, int held)
{
	const int64_t give_up = now_ms() + 20000;
	int n = 0, told;

	do {
		n = 0;
		told = MAY(p, dlock_inspect(l, count_participant, &n, 1000),
			   DLOCK_OK);
		if (told && n != held)
			nap_ms(1);
	} while (told && n > held && now_ms() < give_up);
	MUST(p, n == (told ? held : 0));
}

static void play_questions(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h[3] = { NULL };
	dlock_lock *l = NULL;
	int held = 0, locks = 0;

	if (c && MAY(p, dlock_semaphore_new(&l, c, "s", 3), DLOCK_OK)) {
		for (int i = 0; i < 3; i++)
			held += MAY(p, dlock_acquire(l, 2000, &h[i]), DLOCK_OK);
		count_participants(p, l, held);
		if (!(dlock_caps(c) & DLOCK_CAP_LIST))
			MAY(p, dlock_list(c, count_entry, &locks, 1000),
			    DLOCK_ENOTSUP);
		else if (MAY(p, dlock_list(c, count_entry, &locks, 1000),
			     DLOCK_OK))
			MUST(p, held == 0 || locks > 0);
		else
			MUST(p, locks == 0);
	}
	for (int i = 0; i < 3; i++)
		release(p, h[i]);
	dlock_lock_free(l);
	dlock_close(c);
}

static void play_break(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h = NULL;
	dlock_lock *l = NULL;
	int broken = 0;

	if (c && MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK))
		broken = MAY(p, dlock_break(l, 1000), DLOCK_OK);
	if (h && broken) {
		int rc = dlock_release(h);

		/* Another process' break is found after a while. */
		if (rc == DLOCK_OK && strncmp(p->uri, "file:", 5) == 0)
			rc = DLOCK_ELOST;
		MAY(p, rc, DLOCK_ELOST);
	} else {
		release(p, h);
	}
	dlock_lock_free(l);
	dlock_close(c);
}

/* The store does not hear the release: the core cleans up later. */
static void play_cleanup(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h = NULL;
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK)) {
		FAKE_SCRIPT(fake_store(""), FAKE_RELEASE, .fault = FAKE_REFUSE);
		MAY(p, dlock_release(h), DLOCK_EUNREACHABLE);
	}
	dlock_lock_free(l);
	dlock_close(c);
	fake_clear(fake_store(""));
}

/* Close a client with holds and waits. */
static void play_leave_it(struct play *p)
{
	dlock_client *c = open_it(p);
	dlock_hold *h = NULL;
	dlock_lock *l = NULL;

	if (c && MAY(p, dlock_mutex_new(&l, c, "m"), DLOCK_OK) &&
	    MAY(p, dlock_acquire(l, 2000, &h), DLOCK_OK))
		MUST(p, dlock_check(h) == DLOCK_OK);
	dlock_close(c);
	if (h)
		MAY(p, dlock_release(h), DLOCK_ELOST);
	dlock_lock_free(l);
}

const struct scene scenes[] = { { "open", play_open, NULL },
				{ "label", play_label, NULL },
				{ "locks", play_locks, NULL },
				{ "acquire", play_acquire, NULL },
				{ "many", play_many, NULL },
				{ "contended", play_contended, NULL },
				{ "handed_on", play_handed_on, NULL },
				{ "rwlock", play_rwlock, NULL },
				{ "multi", play_multi, NULL },
				{ "questions", play_questions, NULL },
				{ "break", play_break, NULL },
				{ "cleanup", play_cleanup, "fake" },
				{ "leave_it", play_leave_it, NULL },
				{ "async", play_async, NULL },
				{ "async_multi", play_async_multi, NULL },
				{ "wanted", play_wanted, NULL },
				{ "options", play_options, NULL },
				{ "upgrade", play_upgrade, NULL },
				{ "async_questions", play_async_questions,
				  NULL },
				{ "async_close", play_async_close, NULL },
				{ "async_open", play_async_open, NULL },
				{ 0 } };

int scene_is_for(const struct scene *s, const char *uri)
{
	return !s->scheme || strncmp(uri, s->scheme, strlen(s->scheme)) == 0;
}
