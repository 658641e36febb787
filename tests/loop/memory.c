/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails, for every n: each op still ends once, and no
 * memory is lost (which the address sanitizer tells). */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/loop/drive.h"
#include "core/loop/engine.h"
#include "core/loop/state.h"
#include "core/world/real.h"
#include "support/address.h"
#include "support/fault.h"
#include "tests/loop/lines.h"
#include "tests/loop/rig.h"
#include "tests/loop/script.h"

TestSuite(memory, .fini = rig_free);

enum { OPS = 40 };

/* ---- The scenario -------------------------------------------------------- */

static struct script world;
static struct dlki_engine *engine;
static struct dlki_op ops[OPS];
static int submitted[OPS], ended[OPS];
static int refusing; /* the server, at the first greeting */
static int named;    /* the server has a name */

static void on_done(struct dlki_op *op, dlk_time now)
{
	(void)now;
	ended[op - ops]++;
}

static void submit(int i, enum dlki_verb verb)
{
	ops[i].verb = verb;
	ops[i].id = ops[i].token = (uint64_t)i;
	ops[i].deadline = world.clock + 3000 * DLK_MS;
	ops[i].done = on_done;
	if (dlki_submit(engine, &ops[i]) == 0)
		submitted[i]++;
}

/* The connection of this number stands, if there is such a connection. */
static void connect_sock(int sock)
{
	for (int i = 0; i < 5 && world.opened <= sock; i++)
		dlki_turn(engine, DLKI_ALL_SETS, world.clock + 3000 * DLK_MS);
	if (world.opened > sock && world.socks[sock].is_open)
		script_connected(&world, sock);
	dlki_turn(engine, DLKI_ALL_SETS, world.clock);
}

static void say(int sock, const char *text)
{
	if (world.opened > sock && world.socks[sock].is_open)
		script_says(&world, sock, text);
	dlki_turn(engine, DLKI_ALL_SETS, world.clock);
}

static void run(void)
{
	dlki_push(engine);
	connect_sock(0);
	say(0, refusing ? "NO\n" : "HI\n");
	for (int i = 0; i < OPS / 2; i++)
		submit(i, i % 3 == 2 ? DLKI_RELEASE : DLKI_ATTEMPT);
	submit(OPS - 2, DLKI_BREAK);
	submit(OPS - 1, DLKI_WATCH);
	dlki_push(engine);
	say(0, "G 1\nB 5 5\nY1\nF\nM\nP 1 2 3\nW 4\nL\nO x\n! y\n");
	for (int i = 5; i < OPS / 2; i++)
		say(0, "M\n");
	say(0, "K\n");
	if (world.opened > 0)
		script_ends(&world, 0);
	dlki_turn(engine, DLKI_ALL_SETS, world.clock);
	for (int i = OPS / 2; i < OPS - 2; i++)
		submit(i, DLKI_RENEW);
	connect_sock(1);
	say(1, "HI\n");
	dlki_turn(engine, DLKI_ALL_SETS, world.clock + 5000 * DLK_MS);
}

/* Returns whether the n-th allocation was reached. */
static int scenario(int n)
{
	struct dlki_address address;
	struct dlki_engine_options options = {
		.world = &world.base,
		.protocol = &lines_protocol,
		.label = "ear",
		.place.addresses = &address,
		.place.n_addresses = 1,
		.connect_ms = 2000,
		.patience_ms = 1000,
	};
	const uint16_t port = 7000;
	struct dlk_error err;
	int reached;

	memset(ops, 0, sizeof(ops));
	memset(submitted, 0, sizeof(submitted));
	memset(ended, 0, sizeof(ended));
	script_init(&world);
	address_tcp(&address, "127.0.0.1", port);
	if (named)
		options.place.host = "h.test";
	script_named(&world, 1, &port);
	fault_in("memory", n, ENOMEM);
	engine = dlki_engine_new(&options, &err);
	if (engine) {
		dlki_lock(engine);
		run();
		dlki_unlock(engine);
		dlki_engine_free(engine);
	} else {
		cr_assert_eq(err.code, DLOCK_ENOMEM);
	}
	reached = fault_came();
	for (int i = 0; i < OPS; i++)
		cr_assert_eq(ended[i], submitted[i], "allocation %d, op %d", n,
			     i);
	for (int i = 0; i < world.opened; i++)
		cr_assert(!world.socks[i].is_open);
	script_free(&world);
	return reached;
}

Test(memory, every_op_ends_once_whichever_allocation_fails)
{
	for (int i = 0; i < 3; i++) {
		int n = 1;

		named = i == 1;
		refusing = i == 2;
		while (scenario(n))
			n++;
		cr_assert_gt(n, refusing ? 10 : 15, "%d: %d", i, n);
	}
}

/* An opening waits for these news. */
Test(memory, a_server_is_up_without_memory)
{
	rig_init("", 1);
	rig_push();
	script_connected(&rig.world, 0);
	rig_turn();
	script_says(&rig.world, 0, "HI\n");
	fault_in("memory", 1, ENOMEM);
	rig_turn();
	fault_came();
	cr_assert_eq(rig.up, 1);
}

/* Fill the room for news, and have the next turn find no more. */
static void turn_without_room_for_news(void)
{
	for (int i = 0; i < 16; i++)
		dlki_wake(rig.e->store, 1);
	fault_in("memory", 1, ENOMEM);
	rig_turn();
	cr_assert(fault_came());
}

/* A claim that waits for the news would wait until the deadline. */
Test(memory, a_link_for_news_that_is_down_is_told_without_memory)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_ATTEMPT, DLK_FOREVER);
	rig_say(0, "B 100 1\n");
	rig_push();
	script_refused(&rig.world, 1, -ECONNREFUSED);
	turn_without_room_for_news();
	cr_assert_eq(rig.unheard, 1);
}

Test(memory, a_server_is_up_behind_many_news_without_memory)
{
	rig_init("", 1);
	rig_push();
	script_connected(&rig.world, 0);
	rig_turn();
	script_says(&rig.world, 0, "HI\n");
	turn_without_room_for_news();
	cr_assert_eq(rig.up, 1);
}

Test(memory, a_world_and_a_drive_say_that_there_is_none)
{
	static const struct dlki_tag tag;
	struct dlki_address address;
	int listener;
	struct dlki_world *w;
	struct dlk_error err;

	fault_in("memory", 1, ENOMEM);
	cr_assert_null(dlki_real_new(&err));
	cr_assert_eq(err.code, DLOCK_ENOMEM);
	w = dlki_real_new(&err);
	cr_assert_not_null(w);
	cr_assert_eq(dlki_address_unix(&address, "/", NULL), 0);
	cr_assert_eq(w->type->connect(w, &address, DLKI_NEWS, tag),
		     -ECONNREFUSED);
	listener = address_bound(&address);
	cr_assert_eq(listen(listener, 1), 0);
	fault_in("memory", 1, ENOMEM);
	cr_assert_eq(w->type->connect(w, &address, DLKI_NEWS, tag), -ENOMEM);
	close(listener);
	dlki_real_free(w);
	script_init(&world);
	engine = dlki_engine_new(
		&(struct dlki_engine_options){ .world = &world.base,
					       .protocol = &at_once_protocol },
		&err);
	cr_assert_not_null(engine);
	fault_in("memory", 1, ENOMEM);
	cr_assert_eq(dlki_drive_begin(engine, NULL, &err), DLOCK_ENOMEM);
	cr_assert_eq(dlki_engine_is_up(engine), 1);
	dlki_engine_free(engine);
	script_free(&world);
}
