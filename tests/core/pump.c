/* SPDX-License-Identifier: Apache-2.0 */
/* The pump, which belongs to a waiter or to "dlock-loop". */
#include "core/support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/census.h"
#include "support/closed.h"

TestSuite(pump, .timeout = 60);

/* ---- A store that hears by a pipe ---------------------------------------- */

#define IDS 1024

/* A store with a single lock for all names. All tickets hear of each byte in
 * the pipe. */
static struct {
	pthread_mutex_t mu; /* protects the other members */
	struct dlk_session *session;
	int out, in; /* the pipe's ends */
	uint64_t holder, token, ids[IDS];
	size_t n_ids;
	unsigned int pumps;
	pthread_t pumper; /* the last thread that read a byte */
	int refuse;       /* the store listens by a bad descriptor */
} st = { .mu = PTHREAD_MUTEX_INITIALIZER };

#define OTHERS UINT64_MAX

static void make_pipe(void)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	st.out = ends[0];
	st.in = ends[1];
}

static int st_open(struct dlk_session *s, dlk_time deadline,
		   struct dlk_error *err)
{
	(void)deadline;
	s->ttl_ms = 0;
	st.session = s;
	make_pipe();
	if (dlk_listen(s, st.refuse ? 1 << 20 : st.out, err) == 0)
		return 0;
	close(st.out);
	close(st.in);
	return err->code;
}

static void st_close(struct dlk_session *s, dlk_time deadline)
{
	(void)deadline;
	cr_assert_eq(dlk_listen(s, -1, NULL), 0);
	close(st.out);
	close(st.in);
}

static enum dlk_verdict st_attempt(struct dlk_ticket *t, dlk_time deadline,
				   struct dlk_error *err)
{
	enum dlk_verdict verdict = DLK_BUSY;
	size_t i = 0;

	(void)deadline;
	(void)err;
	pthread_mutex_lock(&st.mu);
	while (i < st.n_ids && st.ids[i] != t->id)
		i++;
	if (i == st.n_ids && i < IDS)
		st.ids[st.n_ids++] = t->id;
	if (!st.holder || st.holder == t->id) {
		st.holder = t->id;
		t->token = ++st.token;
		verdict = DLK_GRANTED;
	}
	pthread_mutex_unlock(&st.mu);
	return verdict;
}

static void send_byte(void)
{
	cr_assert_eq(write(st.in, "", 1), 1);
}

static int st_release(struct dlk_ticket *t, dlk_time deadline,
		      struct dlk_error *err)
{
	int was;

	(void)deadline;
	(void)err;
	pthread_mutex_lock(&st.mu);
	was = st.holder == t->id;
	if (was)
		st.holder = 0;
	for (size_t i = 0; i < st.n_ids; i++) {
		if (st.ids[i] == t->id)
			st.ids[i--] = st.ids[--st.n_ids];
	}
	pthread_mutex_unlock(&st.mu);
	if (was)
		send_byte();
	return 0;
}

static void st_pump(struct dlk_session *s)
{
	char bytes[64];

	if (read(st.out, bytes, sizeof(bytes)) <= 0)
		return;
	pthread_mutex_lock(&st.mu);
	for (size_t i = 0; i < st.n_ids; i++)
		dlk_wake(s, st.ids[i]);
	st.pumper = pthread_self();
	st.pumps++;
	pthread_mutex_unlock(&st.mu);
}

static const char *const schemes[] = { "piped", NULL };

static void make_known(void)
{
	static struct dlock_backend piped;

	piped = closed_backend(schemes);
	piped.caps = DLOCK_CAP_WAKE;
	piped.open = st_open;
	piped.close = st_close;
	piped.attempt = st_attempt;
	piped.release = st_release;
	piped.pump = st_pump;
	cr_assert_eq(dlock_backend_register(&piped), 0);
}

/* ---- The client of a case ------------------------------------------------ */

static dlock_client *client;
static dlock_lock *lock;

static void close_all(void *arg)
{
	(void)arg;
	dlock_lock_free(lock);
	dlock_close(client);
}

static void given_store(void)
{
	make_known();
	OK(dlock_open(&client, "piped:", NULL));
	OK(dlock_mutex_new(&lock, client, "a"));
	OK(dlock_lock_unbind(lock)); /* takers outlive their threads */
	at_end(close_all, client);
}

/* Another client has the lock; and releases the lock. */
static void given_busy_store(void)
{
	st.holder = OTHERS;
	given_store();
}

static void others_end(void)
{
	pthread_mutex_lock(&st.mu);
	if (st.holder == OTHERS)
		st.holder = 0;
	pthread_mutex_unlock(&st.mu);
}

static void others_release(void)
{
	others_end();
	send_byte();
}

static int pumped_by(pthread_t thread)
{
	int yes;

	pthread_mutex_lock(&st.mu);
	yes = st.pumps > 0 && pthread_equal(st.pumper, thread);
	pthread_mutex_unlock(&st.mu);
	return yes;
}

static unsigned int pumps(void)
{
	unsigned int n;

	pthread_mutex_lock(&st.mu);
	n = st.pumps;
	pthread_mutex_unlock(&st.mu);
	return n;
}

/* Starts a taker, which waits and pumps. */
static void taker_pumps(struct taker *t, int64_t timeout_ms)
{
	t->keep = 1;
	taker_start(t, lock, timeout_ms);
	EVENTUALLY(somebody_pumps(client));
}

static void ends_with(struct taker *t, int rc)
{
	int got = taker_join(t);

	cr_assert_eq(got, rc, "%s", dlock_errname(got));
	if (t->keep && t->hold)
		OK(dlock_release(t->hold));
}

/* ---- Cases --------------------------------------------------------------- */

CASE(pump, is_the_waiters_while_it_waits)
{
	struct taker t = { 0 };

	given_busy_store();
	taker_pumps(&t, FOREVER);
	others_release();
	EVENTUALLY(t.done);
	cr_expect(pumped_by(t.thread));
	cr_expect_not(somebody_pumps(client));
	ends_with(&t, DLOCK_OK);
}

/* A store that connects anew has another descriptor. */
static void connect_anew(void)
{
	int out = st.out, in = st.in;

	make_pipe();
	OK(dlk_listen(st.session, st.out, NULL));
	close(out);
	close(in);
}

CASE(pump, is_its_threads_while_no_thread_waits)
{
	given_store();
	for (unsigned int i = 1; i <= 3; i++) {
		if (i == 3)
			connect_anew();
		send_byte();
		EVENTUALLY(pumps() == i);
		cr_expect_not(pumped_by(pthread_self()));
	}
}

CASE(pump, is_its_threads_when_the_first_of_two_waiters_leaves)
{
	struct taker first = { 0 }, second = { .keep = 1 };
	dlock_lock *other;
	int64_t begun_ms;

	stall_watch();
	given_busy_store();
	OK(dlock_mutex_new(&other, client, "a"));
	OK(dlock_lock_unbind(other));
	taker_pumps(&first, FOREVER);
	taker_queue(&second, client, other, FOREVER);
	begun_ms = now_ms();
	dlock_cancel(lock);
	ends_with(&first, DLOCK_ECANCELED);
	cr_expect_lt(now_ms() - begun_ms, 2000 + stalled_ms());
	others_release();
	EVENTUALLY(second.done);
	cr_expect_not(pumped_by(first.thread));
	ends_with(&second, DLOCK_OK);
	dlock_lock_free(other);
}

CASE(pump, of_no_descriptor_is_an_error)
{
	struct census before;

	census_take(&before);
	make_known();
	st.refuse = 1;
	REFUSED(dlock_open(&client, "piped:", NULL), DLOCK_ESYSTEM,
		"listening: Bad file descriptor");
	census_same(&before);
}

/* ---- An open that fails after the store listens -------------------------- */

static atomic_int is_inside, is_closed, met;
static int news_fd;

/* The pump is under way when this returns. */
static int store_open(struct dlk_session *s, dlk_time deadline,
		      struct dlk_error *err)
{
	(void)deadline;
	s->ttl_ms = 0;
	news_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(news_fd, 0);
	cr_assert_eq(dlk_listen(s, news_fd, err), 0);
	EVENTUALLY(is_inside);
	return 0;
}

static void store_close(struct dlk_session *s, dlk_time deadline)
{
	(void)deadline;
	is_closed = 1;
	cr_assert_eq(dlk_listen(s, -1, NULL), 0);
	close(news_fd);
}

static void store_pump(struct dlk_session *s)
{
	eventfd_t ignored;

	(void)s;
	is_inside = 1;
	for (int i = 0; i < 30 && !is_closed; i++)
		nap_ms(1);
	met |= is_closed;
	(void)eventfd_read(news_fd, &ignored);
}

CASE(pump, is_over_before_a_store_is_closed_that_cannot_do_what_is_asked)
{
	static const char *const hearing[] = { "hears", NULL };
	static struct dlock_backend hears;
	dlock_client *none = NULL;

	hears = closed_backend(hearing);
	hears.open = store_open;
	hears.close = store_close;
	hears.pump = store_pump;
	cr_assert_eq(dlock_backend_register(&hears), 0);
	REFUSED(dlock_open(&none, "hears:?keep=1s", NULL), DLOCK_ENOTSUP,
		"cannot tell when another client wants a lock");
	cr_assert(is_closed);
	cr_assert_not(met, "the pump was under way");
}
