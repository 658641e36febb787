/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/rig_news.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct rig rig;

void rig_done(struct dlki_op *op, dlk_time now)
{
	int i = (int)(op - rig.ops);

	rig.ended[i]++;
	rig.ended_at[i] = now;
	if (op->error)
		snprintf(rig.errors[i], sizeof(rig.errors[i]), "%.239s",
			 op->error->text);
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.pushed++;
	rig.news_lease_ms = lease_ms;
	rig.news_id = id;
	rig.news_token = token;
	rig.news_clock = clock;
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.woken++;
	rig.news_id = id;
}

static void on_look(void *arg, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.looked++;
}

static void on_up(void *arg, const struct dlki_agreed *agreed, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.lease_ms = agreed->lease_ms;
	rig.up++;
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.wanted++;
	snprintf(rig.owner, sizeof(rig.owner), "%s", owner);
}

static void on_late(void *arg, dlk_time since, dlk_time now)
{
	(void)arg;
	cr_assert_eq(now, rig.world.clock);
	rig.late++;
	rig.late_since = since;
}

static void tell(const char *text)
{
	snprintf(rig.told, sizeof(rig.told), "%s", text);
}

static void on_down(void *arg, dlk_time now)
{
	struct dlk_error why;

	(void)arg;
	(void)now;
	rig.down++;
	dlki_engine_why(rig.e, &why);
	tell(why.text);
}

static void on_moved(void *arg, const char *text, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.moved++;
	tell(text);
	memcpy(rig.warning, rig.told, sizeof(rig.told));
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	rig.warned++;
	tell(text);
	memcpy(rig.warning, rig.told, sizeof(rig.told));
}

static void on_unheard(void *arg, const char *why)
{
	(void)arg;
	rig.unheard++;
	tell(why);
}

void rig_clear(void)
{
	memset(&rig, 0, sizeof(rig));
	script_init(&rig.world);
}

void rig_begin_engine(struct dlki_engine_options options)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
		.up = on_up,
		.wanted = on_wanted,
		.late = on_late,
		.down = on_down,
		.moved = on_moved,
		.warn = on_warn,
		.unheard = on_unheard,
	};
	struct dlk_error err;

	options.world = &rig.world.base;
	options.news = &news;
	options.connect_ms = 2000;
	rig.e = dlki_engine_new(&options, &err);
	cr_assert_not_null(rig.e);
	cr_assert_eq(dlki_lock(rig.e), 0);
}

void rig_end_engine(void)
{
	dlki_unlock(rig.e);
	dlki_engine_free(rig.e);
	rig.e = NULL;
	for (int i = 0; i < rig.world.opened; i++)
		cr_assert(!rig.world.socks[i].is_open, "socket %d", i);
	script_free(&rig.world);
}

void rig_turn(void)
{
	dlki_turn(rig.e, DLKI_ALL_SETS, rig.world.clock);
}

void rig_turn_until(dlk_time until)
{
	dlki_turn(rig.e, DLKI_ALL_SETS, until);
}

void rig_say(int sock, const char *text)
{
	script_says(&rig.world, sock, text);
	rig_turn();
}
