/* SPDX-License-Identifier: Apache-2.0 */
#include "core/support.h"

#include <stdio.h>
#include <string.h>

dlock_client *open_store(const char *uri, const dlock_options *opts)
{
	dlock_client *c = NULL;

	OK(fake_register());
	OK(dlock_open(&c, uri, opts));
	return c;
}

dlk_time late(dlk_time t)
{
	return t + stalled_ms() * DLKI_MS;
}

void close_within(dlock_client *client, int64_t most_ms)
{
	dlk_time began = dlk_now(), took;

	dlock_close(client);
	took = dlk_now() - began;
	cr_assert_leq(took, late(most_ms * DLKI_MS), "closing took %lld ms",
		      (long long)(took / DLKI_MS));
	cr_assert_null(fake_complaint(), "%s", fake_complaint());
}

void close_store(dlock_client *client)
{
	close_within(client, 5000);
}

dlock_hold *take(dlock_lock *lock)
{
	dlock_hold *hold = NULL;

	OK(dlock_acquire(lock, 5000, &hold));
	return hold;
}

struct dlock_stats stats(dlock_client *client)
{
	struct dlock_stats s = { .size = sizeof(s) };

	OK(dlock_get_stats(client, &s));
	return s;
}

static void *taker_main(void *arg)
{
	struct taker *t = arg;

	if (t->shared)
		t->rc = dlock_acquire_shared(t->lock, t->timeout_ms, &t->hold);
	else
		t->rc = dlock_acquire(t->lock, t->timeout_ms, &t->hold);
	t->done_at = dlk_now();
	atomic_store(&t->done, 1);
	while (atomic_load(&t->linger))
		nap_ms(1);
	if (t->rc == DLOCK_OK && !t->keep)
		t->release_rc = dlock_release(t->hold);
	return NULL;
}

void taker_start(struct taker *t, dlock_lock *lock, int64_t timeout_ms)
{
	t->lock = lock;
	t->timeout_ms = timeout_ms;
	cr_assert_eq(pthread_create(&t->thread, NULL, taker_main, t), 0);
}

int taker_join(struct taker *t)
{
	pthread_join(t->thread, NULL);
	return t->rc;
}

void write_event(dlock_hold *hold, enum dlock_event event, const char *why,
		 void *arg)
{
	struct diary *d = arg;

	pthread_mutex_lock(&d->mu);
	if (d->n < 64) {
		d->page[d->n].hold = hold;
		d->page[d->n].event = event;
		d->page[d->n].at = dlk_now();
		d->page[d->n].check = dlock_check(hold);
		snprintf(d->page[d->n].why, sizeof(d->page[0].why), "%s", why);
		d->n++;
	}
	pthread_mutex_unlock(&d->mu);
}

void write_log(int level, const char *text, void *arg)
{
	struct diary *d = arg;
	size_t used;

	(void)level;
	pthread_mutex_lock(&d->mu);
	used = strlen(d->log);
	snprintf(d->log + used, sizeof(d->log) - used, "%s\n", text);
	d->logs++;
	pthread_mutex_unlock(&d->mu);
}

int diary_count(struct diary *d, enum dlock_event event)
{
	int n = 0;

	pthread_mutex_lock(&d->mu);
	for (int i = 0; i < d->n; i++)
		n += d->page[i].event == event;
	pthread_mutex_unlock(&d->mu);
	return n;
}

dlock_options diary_options(struct diary *d)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_event = write_event;
	o.on_log = write_log;
	o.arg = d;
	return o;
}
