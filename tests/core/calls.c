/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls.h"

void over(struct outcome *o, int code, const char *text)
{
	cr_assert_eq(outcome_of(o), code, "%s: %s", dlock_errname(o->rc),
		     o->text);
	cr_assert(strstr(o->text, text) != NULL, "'%s' does not say '%s'",
		  o->text, text);
	cr_assert_null(o->hold);
}

void stick(struct fake *f, dlock_client *c, struct outcome *o,
	   enum fake_fault then)
{
	size_t before = fake_count(f, FAKE_ATTEMPT);

	FAKE_SCRIPT(f, FAKE_ATTEMPT, .gate = 1, .fault = then);
	ask_async(o, unbound(c, "stuck"), -1);
	EVENTUALLY(fake_count(f, FAKE_ATTEMPT) > before);
}

static struct outcome *_Atomic expected;
atomic_int events, early;

static void on_event(dlock_hold *about, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)about;
	(void)event;
	(void)why;
	(void)arg;
	early += expected->calls == 0;
	events++;
}

void events_follow(struct outcome *o)
{
	expected = o;
	events_call(on_event);
}
