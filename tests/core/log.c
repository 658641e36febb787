/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the log: a line may come under any lock, is told under no lock, and
 * in order. */
#include "core/fixture.h"

#include <dlock/async.h>
#include <errno.h>
#include <stdio.h>

#include "core/client.h"
#include "core/log.h"
#include "support/fault.h"

TestSuite(log, .init = fixture, .timeout = 60);

/* The lines told to the sink. The sink takes the store's lock, and does not
 * return while `blocks` is set. */
static struct {
	pthread_mutex_t mu;
	char line[2 * DLKI_LOG_LINES][64];
	int n;
	atomic_int told, blocks, inside;
	pthread_t by; /* the thread of the last line */
} told = { .mu = PTHREAD_MUTEX_INITIALIZER };

static void tell(const struct dlock_log_line *line, void *arg)
{
	(void)arg;
	fake_held(fake);
	atomic_fetch_add(&told.inside, 1);
	while (atomic_load(&told.blocks))
		nap_ms(1);
	pthread_mutex_lock(&told.mu);
	snprintf(told.line[told.n % (2 * DLKI_LOG_LINES)], sizeof(told.line[0]),
		 "%d %s", line->level, line->text);
	told.n++;
	told.by = pthread_self();
	pthread_mutex_unlock(&told.mu);
	atomic_fetch_add(&told.told, 1);
	atomic_fetch_sub(&told.inside, 1);
}

/* Writes `n` lines while the sink does not return. The first line is in the
 * sink, and the others are in the queue. */
static void flood(int n)
{
	told.blocks = 1;
	fake_log(fake, "flood");
	EVENTUALLY(told.inside == 1);
	for (int i = 1; i < n; i++)
		fake_log(fake, "flood");
}

static void given_told_mutex(void)
{
	options.on_log = tell;
	given_mutex("fake:?ttl=30s");
}

static void says(enum fake_verb verb, const char *line)
{
	FAKE_SCRIPT(fake, verb, .says = line);
}

static void told_is(int i, const char *line)
{
	pthread_mutex_lock(&told.mu);
	cr_assert_str_eq(told.line[i], line);
	pthread_mutex_unlock(&told.mu);
}

CASE(log, of_a_call_is_told_when_it_returns)
{
	given_told_mutex();
	says(FAKE_ATTEMPT, "asked");
	says(FAKE_RELEASE, "given up");
	hold = take(lock);
	cr_assert_eq(told.told, 1);
	OK(dlock_release(hold));
	cr_assert_eq(told.told, 2);
	told_is(0, "1 asked");
	told_is(1, "1 given up");
}

/* A sink that does not return holds up no common thread. */
CASE(log, of_a_thread_apart_is_told_by_another)
{
	given_told_mutex();
	atomic_store(&told.blocks, 1);
	dlki_log_apart(1);
	says(FAKE_ATTEMPT, "asked");
	hold = take(lock);
	dlki_log(client, DLKI_WARNING, "and granted");
	EVENTUALLY(atomic_load(&told.inside) == 1);
	atomic_store(&told.blocks, 0);
	EVENTUALLY(atomic_load(&told.told) == 2);
	cr_assert(!pthread_equal(told.by, pthread_self()));
	dlki_log_apart(0);
	give(hold);
}

/* A long wait does not delay the lines of the attempt. */
CASE(log, of_an_attempt_is_told_while_the_call_waits)
{
	struct taker taker = { 0 };

	given_told_mutex();
	hold = take(lock);
	says(FAKE_ATTEMPT, "held by others");
	taker_start(&taker, lock, 20000);
	EVENTUALLY(told.told == 1);
	cr_assert_eq(fake_waiting(fake), 1);
	OK(dlock_release(hold));
	OK(let_go(&taker));
}

static struct {
	int level, code;
	char lock[16], label[16], uri[64];
} fields;

static void note_fields(const struct dlock_log_line *line, void *arg)
{
	(void)arg;
	cr_assert_eq(line->size, sizeof(*line));
	fields.level = line->level;
	fields.code = line->code;
	snprintf(fields.lock, sizeof(fields.lock), "%s",
		 line->lock ? line->lock : "-");
	snprintf(fields.label, sizeof(fields.label), "%s", line->label);
	snprintf(fields.uri, sizeof(fields.uri), "%s", line->uri);
	atomic_fetch_add(&told.told, 1);
}

/* Programs may write their log as JSON. */
CASE(log, has_fields)
{
	options.on_log = note_fields;
	options.label = "billing";
	options.password = "a secret";
	given_mutex("fake://user@here:1?ttl=30s");
	fake_always(fake_store("here"), FAKE_ATTEMPT, FAKE_REFUSE);
	REFUSED(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE, "no answer");
	cr_assert_eq(told.told, 1);
	cr_assert_eq(fields.level, 1);
	cr_assert_eq(fields.code, DLOCK_EUNREACHABLE);
	cr_assert_str_eq(fields.lock, "a");
	cr_assert_str_eq(fields.label, "billing");
	cr_assert_str_eq(fields.uri, dlock_uri(client));
	cr_assert_null(strstr(fields.uri, "secret"));
	fake_clear(fake_store("here"));
	fake_log(fake_store("here"), "the server has gone");
	EVENTUALLY(told.told == 2);
	cr_assert_eq(fields.code, 0);
	cr_assert_str_eq(fields.lock, "-");
}

CASE(log, of_an_open_that_fails_is_told)
{
	dlock_client *c = NULL;

	options.on_log = tell;
	options.once = 1;
	FAKE_SCRIPT(fake, FAKE_OPEN, .fault = FAKE_REFUSE,
		    .says = "an old server");
	REFUSED(dlock_open(&c, "fake:", &options), DLOCK_EUNREACHABLE,
		"no answer");
	cr_assert_eq(told.told, 1);
	told_is(0, "1 an old server");
}

CASE(log, is_told_in_order)
{
	enum { LINES = 200 };
	static char line[LINES][24];

	given_told_mutex();
	for (int i = 0; i < LINES; i++) {
		snprintf(line[i], sizeof(line[i]), "line %d", i);
		if (i % 4) {
			fake_log(fake, line[i]);
		} else {
			says(FAKE_ATTEMPT, line[i]);
			OK(dlock_release(take(lock)));
		}
	}
	EVENTUALLY(told.told == LINES);
	for (int i = 0; i < LINES; i++) {
		char text[24];

		snprintf(text, sizeof(text), "1 line %d", i);
		told_is(i, text);
	}
}

/* Neither a call with a line nor a call without a line waits. */
CASE(log, that_is_being_told_keeps_no_call_waiting)
{
	given_told_mutex();
	told.blocks = 1;
	fake_log(fake, "slow");
	EVENTUALLY(told.inside == 1);
	OK(dlock_release(take(lock)));
	says(FAKE_ATTEMPT, "asked");
	OK(dlock_release(take(lock)));
	cr_assert_eq(told.told, 0);
	told.blocks = 0;
	EVENTUALLY(told.told == 2);
	told_is(1, "1 asked");
}

CASE(log, of_a_flood_is_kept_up_to_a_bound)
{
	enum { KEPT = 1 + DLKI_LOG_LINES, LOST = 500 };
	char text[64];

	given_told_mutex();
	flood(KEPT + LOST);
	told.blocks = 0;
	EVENTUALLY(told.told == KEPT + 1);
	fake_log(fake, "all is well");
	EVENTUALLY(told.told == KEPT + 2);
	snprintf(text, sizeof(text), "1 %d more lines were dropped", LOST);
	told_is(KEPT - 1, "1 flood");
	told_is(KEPT, text);
	told_is(KEPT + 1, "1 all is well");
}

CASE(log, that_is_left_is_told_by_the_close)
{
	enum { LINES = 20 };
	pthread_t closer;

	given_told_mutex();
	told.blocks = 1;
	for (int i = 0; i < LINES; i++)
		fake_log(fake, "late");
	says(FAKE_CLOSE, "bye");
	closer = client_closes();
	EVENTUALLY(told.inside == 1);
	told.blocks = 0;
	pthread_join(closer, NULL);
	cr_assert_eq(told.told, LINES + 1);
	told_is(LINES, "1 bye");
}

/* The next call tells the lines of other threads. */
CASE(log, is_told_where_no_thread_can_be_started)
{
	pthread_attr_t usual, huge;

	given_told_mutex();
	cr_assert_eq(pthread_getattr_default_np(&usual), 0);
	cr_assert_eq(pthread_attr_init(&huge), 0);
	cr_assert_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 46), 0);
	cr_assert_eq(pthread_setattr_default_np(&huge), 0);
	fake_log(fake, "the server has gone");
	cr_assert_eq(told.told, 0);
	hold = take(lock);
	cr_assert_eq(told.told, 1);
	cr_assert_eq(pthread_setattr_default_np(&usual), 0);
	pthread_attr_destroy(&huge);
	pthread_attr_destroy(&usual);
	OK(dlock_release(hold));
}

CASE(log, of_another_thread_changes_no_errno)
{
	given_told_mutex();
	errno = 4711;
	fake_log(fake, "the server has gone");
	cr_assert_eq(errno, 4711);
	EVENTUALLY(told.told == 1);
	told_is(0, "1 the server has gone");
}

/* ---- By dlock_process() -------------------------------------------------- */

static atomic_int turned;

static void *turn_over(void *arg)
{
	OK(dlock_events_by_process(client));
	atomic_store(&turned, 1);
	return arg;
}

/* No line is told at two places, and none is left behind. */
CASE(log, is_told_by_the_process_behind_a_running_sink)
{
	pthread_t thread;

	given_told_mutex();
	flood(3);
	thread = thread_begin(turn_over, NULL);
	ALL_ALONG(30, !atomic_load(&turned));
	cr_assert_geq(dlock_process(client, 0), 0);
	cr_assert_eq(told.told, 0);
	told.blocks = 0;
	pthread_join(thread, NULL);
	cr_assert_eq(told.told, 1);
	while (dlock_process(client, 1) > 0)
		continue;
	cr_assert_eq(told.told, 3);
	cr_assert(pthread_equal(told.by, pthread_self()));
	fake_log(fake, "the server has gone");
	ALL_ALONG(20, told.told == 3);
	OK(dlock_process(client, 0));
	told_is(3, "1 the server has gone");
}

/* ---- Without memory ------------------------------------------------------ */

static void log_without_memory(void)
{
	fault_in("malloc", 1, ENOMEM);
	dlki_log(client, DLKI_WARNING, "this needs memory");
	cr_assert(fault_came());
}

CASE(log, of_a_line_without_memory_is_a_count)
{
	given_told_mutex();
	log_without_memory();
	told_is(0, "1 1 more lines were dropped");
	OK(dlock_events_by_process(client));
	log_without_memory();
	log_without_memory();
	cr_assert_eq(told.told, 1);
	OK(dlock_process(client, 0));
	told_is(1, "1 2 more lines were dropped");
	cr_assert_eq(told.told, 2);
}

/* ---- A store inside another ---------------------------------------------- */

CASE(log, of_an_outer_call_is_told_when_that_returns)
{
	struct dlki_log_bracket outer, inner;
	dlock_client *other;

	given_told_mutex();
	other = closed_at_end(open_store("fake://other", &options));
	dlki_log_open(&outer, &client->log);
	dlki_log_open(&inner, &other->log);
	dlk_log(client->session, DLKI_WARNING, "of the outer store");
	dlki_log_close(&inner);
	cr_assert_eq(told.told, 0);
	dlki_log_close(&outer);
	cr_assert_eq(told.told, 1);
	told_is(0, "1 of the outer store");
}
