/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/rig.h"
#include "support/address.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct rig rig;
struct dlki_tls_context *rig_tls;

static void on_done(struct dlki_op *op, dlk_time now)
{
	int i = (int)(op - rig.ops);

	rig.ended[i]++;
	rig.ended_at[i] = now;
	if (rig.n_ended < RIG_OPS)
		rig.order[rig.n_ended++] = i;
	if (op->error)
		snprintf(rig.error[i], sizeof(rig.error[i]), "%.63s",
			 op->error->text);
}

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock,
		      int64_t lease_ms, dlk_time now)
{
	(void)arg;
	(void)now;
	cr_assert_eq(lease_ms, 500);
	rig.pushed++;
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

static void on_up(void *arg, const struct dlki_terms *terms, dlk_time now)
{
	(void)arg;
	(void)now;
	cr_assert_eq(terms->lease_ms, 1000);
	rig.up++;
}

static void on_wanted(void *arg, const char *owner, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.wanted++;
	snprintf(rig.owner, sizeof(rig.owner), "%s", owner);
}

static void on_down(void *arg, dlk_time now)
{
	struct dlk_error why;

	(void)arg;
	(void)now;
	rig.down++;
	dlki_engine_why(rig.e, &why);
	snprintf(rig.told, sizeof(rig.told), "%s", why.text);
}

static void on_moved(void *arg, const char *text, dlk_time now)
{
	(void)arg;
	(void)now;
	rig.moved++;
	snprintf(rig.told, sizeof(rig.told), "%s", text);
}

static void on_warn(void *arg, const char *text)
{
	(void)arg;
	rig.warned++;
	snprintf(rig.told, sizeof(rig.told), "%s", text);
}

static void on_unheard(void *arg, const char *why)
{
	(void)arg;
	rig.unheard++;
	snprintf(rig.told, sizeof(rig.told), "%s", why);
}

static void begin(struct dlki_engine_options options)
{
	static const struct dlki_news news = {
		.pushed = on_pushed,
		.wake = on_wake,
		.look_again = on_look,
		.up = on_up,
		.wanted = on_wanted,
		.down = on_down,
		.moved = on_moved,
		.warn = on_warn,
		.unheard = on_unheard,
	};
	struct dlk_error err;

	memset(&rig, 0, sizeof(rig));
	script_init(&rig.world);
	options.world = &rig.world.base;
	options.protocol = &lines_protocol;
	options.news = &news;
	options.tls = rig_tls;
	options.connect_ms = 2000;
	options.patience_ms = 1000;
	rig.e = dlki_engine_new(&options, &err);
	cr_assert_not_null(rig.e);
	for (int i = 0; i < RIG_OPS; i++) {
		rig.ops[i].done = on_done;
		rig.ops[i].id = (uint64_t)i;
		rig.ops[i].token = (uint64_t)i;
	}
	cr_assert_eq(dlki_lock(rig.e), 0);
}

void rig_init(const char *label, size_t n_addresses)
{
	struct dlki_address addresses[4];

	for (uint16_t i = 0; i < n_addresses; i++)
		address_tcp(&addresses[i], "127.0.0.1", (uint16_t)(7000 + i));
	begin((struct dlki_engine_options){ .label = label,
					    .addresses = addresses,
					    .n_addresses = n_addresses });
}

void rig_init_host(const char *label, const char *host, const char *path)
{
	begin((struct dlki_engine_options){
		.label = label, .host = host, .port = 7000, .path = path });
}

void rig_init_up(const char *label)
{
	rig_init(label, 1);
	rig_push();
	rig_connect(0);
	cr_assert_str_eq(script_heard(&rig.world, 0), "HI\n");
	rig_say(0, "HI\n");
	cr_assert(dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.up, 1);
}

void rig_free(void)
{
	const struct lines *p;

	if (!rig.e)
		return;
	p = (const struct lines *)rig.e->store;
	cr_assert(!p->went_back, "`now` went back");
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

void rig_push(void)
{
	dlki_push(rig.e);
}

void rig_say(int sock, const char *text)
{
	script_says(&rig.world, sock, text);
	rig_turn();
}

void rig_connect(int sock)
{
	script_connected(&rig.world, sock);
	rig_turn();
}

void rig_refuse(int sock, int error)
{
	script_refused(&rig.world, sock, error);
	rig_turn();
}

void rig_end(int sock)
{
	script_ends(&rig.world, sock);
	rig_turn();
}

void rig_queue(int i, enum dlki_verb verb, dlk_time deadline)
{
	rig.ops[i].verb = verb;
	rig.ops[i].deadline = deadline;
	cr_assert_eq(dlki_submit(rig.e, &rig.ops[i]), 0);
}

void rig_submit(int i, enum dlki_verb verb, dlk_time deadline)
{
	rig_queue(i, verb, deadline);
	rig_push();
}
