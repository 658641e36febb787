/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are not true any more when they could be told. */
#include "core/support.h"

struct stage {
	struct diary diary;
	atomic_int inside, go;
};

static void hold_up(dlock_hold *hold, enum dlock_event event, const char *why,
		    void *arg)
{
	struct stage *s = arg;

	write_event(hold, event, why, &s->diary);
	atomic_fetch_add(&s->inside, 1);
	while (!atomic_load(&s->go))
		nap_ms(1);
}

/* What is lost is in danger no more, and has not been saved. */
Test(event, that_a_loss_has_overtaken_is_not_told, .timeout = 60)
{
	struct stage s = { .diary = DIARY_INIT };
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct fake *fake;
	dlock_client *c;
	dlock_lock *la, *lb;
	dlock_hold *a, *b;

	OK(fake_register());
	fake = fake_store("");
	o.on_event = hold_up;
	o.arg = &s;
	c = open_store("fake:?ttl=5s&check=30ms", &o);
	la = mutex(c, "a");
	lb = mutex(c, "b");
	a = take(la);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(atomic_load(&s.inside) == 1);
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	b = take(lb);
	EVENTUALLY(stats(c).renew_failed >= 1);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(dlock_check(b) == DLOCK_ELOST);
	atomic_store(&s.go, 1);
	EVENTUALLY(diary_count(&s.diary, DLOCK_LOST) == 2);
	cr_assert_eq(s.diary.n, 2, "told of a danger that had passed");
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}
