/* SPDX-License-Identifier: Apache-2.0 */
/* inspect, list and break: what is told, by when, and what fails. */
#include "core/support.h"

#include <stdio.h>

static struct fake *fake;
static dlock_client *client;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
	client = open_store("fake:?ttl=5s&ask=50ms", NULL);
}

static void tear_down(void)
{
	close_store(client);
}

TestSuite(store, .init = set_up, .fini = tear_down, .timeout = 60);

struct told {
	int n, waiting, shared;
	char text[400];
	dlock_client *client;
	int rc;
};

static void party(const struct dlock_party *p, void *arg)
{
	struct told *t = arg;
	size_t used = strlen(t->text);

	cr_assert_eq(p->size, sizeof(*p));
	t->n++;
	t->waiting += p->waiting;
	t->shared += p->shared;
	snprintf(t->text + used, sizeof(t->text) - used, "%s/%.4s ", p->label,
		 p->id);
}

static void entry(const struct dlock_entry *e, void *arg)
{
	struct told *t = arg;
	size_t used = strlen(t->text);

	cr_assert_eq(e->size, sizeof(*e));
	t->n++;
	snprintf(t->text + used, sizeof(t->text) - used, "%s:%s:%u ", e->kind,
		 e->name, e->permits);
}

Test(store, tells_who_holds_and_who_waits)
{
	dlock_lock *l = mutex(client, "a"), *s = NULL;
	struct taker t = { 0 };
	struct told told = { 0 };
	dlock_hold *h;

	OK(dlock_inspect(l, party, &told, 1000));
	cr_assert_eq(told.n, 0);
	/* One that tells neither its label nor its id. */
	fake_occupy(fake, DLK_MUTEX, "a", 0);
	taker_start(&t, l, -1);
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_inspect(l, party, &told, 1000));
	cr_assert_eq(told.n, 2);
	cr_assert_eq(told.waiting, 1);
	cr_assert_eq(told.shared, 0);
	cr_assert(strncmp(told.text, "/ ", 2) == 0, "%s", told.text);
	fake_vacate(fake, DLK_MUTEX, "a");
	OK(taker_join(&t));
	OK(dlock_semaphore_new(&s, client, "s", 2));
	h = take(s);
	told = (struct told){ 0 };
	OK(dlock_inspect(s, party, &told, 1000));
	cr_assert_eq(told.shared, 1);
	OK(dlock_release(h));
	dlock_free(s);
	dlock_free(l);
}

Test(store, lists_the_locks)
{
	dlock_lock *l = mutex(client, "a"), *s = NULL;
	struct told told = { 0 };
	dlock_hold *h, *p;

	OK(dlock_semaphore_new(&s, client, "s", 2));
	h = take(l);
	p = take(s);
	OK(dlock_list(client, entry, &told, 1000));
	cr_assert_eq(told.n, 2);
	cr_assert(strstr(told.text, "mutex:a:0 "));
	cr_assert(strstr(told.text, "semaphore:s:2 "));
	OK(dlock_release(h));
	OK(dlock_release(p));
	dlock_free(s);
	dlock_free(l);
}

/* The caller's function may ask in its turn: no lock is held. */
static void ask_again(const struct dlock_entry *e, void *arg)
{
	struct told *t = arg, inner = { 0 };

	(void)e;
	t->n++;
	t->rc |= dlock_list(t->client, entry, &inner, 1000);
}

Test(store, may_be_asked_while_it_tells)
{
	dlock_lock *l = mutex(client, "a");
	struct told told = { .client = client };
	dlock_hold *h = take(l);

	OK(dlock_list(client, ask_again, &told, 1000));
	cr_assert_eq(told.n, 1);
	OK(told.rc);
	OK(dlock_release(h));
	dlock_free(l);
}

static void close_it(const struct dlock_entry *e, void *arg)
{
	struct told *t = arg;

	(void)e;
	t->n++;
	dlock_close(t->client);
	t->client = NULL;
}

Test(store, may_be_closed_while_it_tells, .timeout = 20)
{
	dlock_client *c = open_store("fake://brief", NULL);
	dlock_lock *l = mutex(c, "a");
	struct told told = { .client = c };
	dlock_hold *h = take(l);

	OK(dlock_list(c, close_it, &told, 1000));
	cr_assert_eq(told.n, 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "closed");
	dlock_free(l);
}

Test(store, tells_nothing_when_it_fails)
{
	static const enum fake_fault faults[] = { FAKE_REFUSE, FAKE_CUT };
	dlock_lock *l = mutex(client, "a");
	struct told told = { 0 };
	dlock_hold *h = take(l);

	for (int i = 0; i < 2; i++) {
		for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
			fake_script(fake, (enum fake_verb)verb,
				    (struct fake_step){ .fault = faults[i] });
		REFUSED(dlock_inspect(l, party, &told, 0), DLOCK_EUNREACHABLE,
			"no answer");
		REFUSED(dlock_list(client, entry, &told, 0), DLOCK_EUNREACHABLE,
			"no answer");
		REFUSED(dlock_break(l, 0), DLOCK_EUNREACHABLE, "no answer");
	}
	cr_assert_eq(told.n, 0);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST, "the cut break was done");
	dlock_free(l);
}

/* A store that breaks its word and says nothing about why. */
Test(store, that_fails_without_a_reason_has_a_message)
{
	dlock_lock *l = mutex(client, "a");
	struct told told = { 0 };

	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
		fake_script(fake, (enum fake_verb)verb,
			    (struct fake_step){ .fault = FAKE_CODE });
	cr_assert_lt(dlock_inspect(l, party, &told, 0), 0);
	cr_assert_lt(dlock_list(client, entry, &told, 0), 0);
	cr_assert_lt(dlock_break(l, 0), 0);
	dlock_free(l);
}

Test(store, keeps_deadlines_when_it_is_silent)
{
	dlock_lock *l = mutex(client, "a");
	struct told told = { 0 };
	dlk_time began = dlk_now();

	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
		fake_script(fake, (enum fake_verb)verb,
			    (struct fake_step){ .fault = FAKE_SILENT,
						.times = 2 });
	cr_assert_eq(dlock_inspect(l, party, &told, 0), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_list(client, entry, &told, 0), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_break(l, 0), DLOCK_EUNREACHABLE);
	cr_assert_lt(dlk_now(), late(began + 500 * DLKI_MS));
	began = dlk_now();
	cr_assert_eq(dlock_inspect(l, party, &told, 100), DLOCK_EUNREACHABLE);
	cr_assert_geq(dlk_now(), began + 100 * DLKI_MS);
	cr_assert_lt(dlk_now(), late(began + 400 * DLKI_MS));
	/* Without a timeout a request still ends. */
	began = dlk_now();
	cr_assert_eq(dlock_break(l, -1), DLOCK_EUNREACHABLE);
	cr_assert_lt(dlk_now(), late(began + 4000 * DLKI_MS));
	dlock_free(l);
}

Test(store, that_breaks_a_lock_makes_a_loss_of_it)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=5s", &o);
	dlock_lock *mine = mutex(c, "a"), *l = mutex(client, "a");
	dlock_hold *h = take(mine);
	uint64_t token = dlock_token(h);

	OK(dlock_break(l, 1000));
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "broken");
	h = take(l);
	cr_assert_gt(dlock_token(h), token);
	OK(dlock_release(h));
	dlock_free(mine);
	dlock_free(l);
	close_store(c);
}

Test(store, refuses_once_it_is_closed)
{
	dlock_client *c = open_store("fake://brief", NULL);
	dlock_lock *l = mutex(c, "a");
	struct told told = { 0 };

	close_store(c);
	REFUSED(dlock_inspect(l, party, &told, 0), DLOCK_ECANCELED, "closed");
	REFUSED(dlock_break(l, 0), DLOCK_ECANCELED, "closed");
	dlock_free(l);
}
