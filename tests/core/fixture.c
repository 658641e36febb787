/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fixture.h"

#include "core/client.h"

struct fake *fake;
dlock_client *client;
dlock_lock *lock;
dlock_hold *hold;
dlock_options options;
struct diary diary = DIARY_INIT;

void keep_diary(void)
{
	cr_assert_null(client, "it is open already");
	diary = (struct diary)DIARY_INIT;
	options = diary_options(&diary);
}

void events_call(dlock_event_fn fn)
{
	keep_diary();
	options.on_event = fn;
}

int told_of(enum dlock_event event)
{
	int n = 0;

	pthread_mutex_lock(&diary.mu);
	for (int i = 0; i < diary.n; i++)
		n += diary.page[i].event == event;
	pthread_mutex_unlock(&diary.mu);
	return n;
}

atomic_int inside, go;

void hold_up(dlock_hold *h, enum dlock_event event, const char *why, void *d)
{
	diary_event(h, event, why, d);
	atomic_fetch_add(&inside, 1);
	while (!atomic_load(&go))
		nap_ms(1);
}

static void close_in_time(void *c)
{
	close_store(c);
}

dlock_client *closed_at_end(dlock_client *c)
{
	at_end(close_in_time, c);
	return c;
}

void given_client(const char *uri)
{
	client = closed_at_end(open_store(uri, &options));
}

void given_mutex(const char *uri)
{
	given_client(uri);
	lock = mutex(client, "a");
}

void given_busy_mutex(const char *uri)
{
	given_mutex(uri);
	fake_occupy(fake, DLK_LOCK, "a", 0);
}

dlock_lock *unbound(dlock_client *c, const char *name)
{
	dlock_lock *l = mutex(c, name);

	OK(dlock_lock_unbind(l));
	return l;
}

void given_unbound(const char *uri)
{
	given_client(uri);
	lock = unbound(client, "a");
}

void given_rwlock(const char *uri)
{
	given_client(uri);
	lock = rwlock(client, "a");
}

void given_semaphore(const char *uri, uint32_t permits)
{
	given_client(uri);
	lock = semaphore(client, "a", permits);
}

void given_hold(const char *uri)
{
	given_mutex(uri);
	hold = take(lock);
}

void taker_waits(struct taker *t, int64_t timeout_ms)
{
	taker_start(t, lock, timeout_ms);
	EVENTUALLY(stats(client).waiters == 1);
}

static dlock_client *let_go_of_client(void)
{
	dlock_client *c = client;

	not_at_end(c);
	client = NULL;
	return c;
}

void close_client_within(int64_t most_ms)
{
	close_within(let_go_of_client(), most_ms);
}

void close_client(void)
{
	close_client_within(5000);
}

static void *closer_main(void *arg)
{
	dlock_close(arg);
	return NULL;
}

pthread_t client_closes(void)
{
	pthread_t thread;

	thread = thread_begin(closer_main, let_go_of_client());
	return thread;
}

unsigned int calls_under_way(dlock_client *c)
{
	unsigned int n;

	pthread_mutex_lock(&c->mu);
	n = c->calls;
	pthread_mutex_unlock(&c->mu);
	return n;
}

uint64_t last_id(void)
{
	return fake_last(fake, FAKE_ATTEMPT).id;
}

void lose_last(void)
{
	fake_lose(fake, last_id());
}

static atomic_llong ahead;
static dlk_time (*real_clock)(void);

static dlk_time leaping_clock(void)
{
	return real_clock() + atomic_load(&ahead);
}

void clock_leaps(int64_t ahead_ms)
{
	if (!real_clock) {
		real_clock = dlki_clock;
		dlki_clock = leaping_clock;
	}
	atomic_store(&ahead, ahead_ms * DLK_MS);
}

/* case_end() looks for leaks, and must see no pointer to leaked memory. */
static void fixture_end(void *unused)
{
	(void)unused;
	client = NULL;
	lock = NULL;
	hold = NULL;
	cr_assert_eq(fake_waiting_anywhere(), 0);
	cr_assert_null(fake_complaint(), "%s", fake_complaint());
}

void fixture(void)
{
	case_begin();
	at_end(fixture_end, &fake);
	OK(fake_register());
	options = (dlock_options)DLOCK_OPTIONS_INIT;
	fake = fake_store("");
}

void timed_fixture(void)
{
	stall_watch();
	fixture();
}
