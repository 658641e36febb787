/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls.h"

void given_looped(const char *uri)
{
	given_client(uri);
	outcomes_process(client);
}

void given_loop(const char *uri)
{
	given_looped(uri);
	lock = unbound(client, "a");
}

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

ON_EVENT(on_event)
{
	early += expected->calls == 0;
	events++;
}

void events_follow(struct outcome *o)
{
	expected = o;
	events_call(on_event);
}
