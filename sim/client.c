/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/allocation.h"
#include "sim/base/memory.h"

enum { TURNS = 1000, MS = 1000000 };

/* ---- News ---------------------------------------------------------------- */

static void on_pushed(void *arg, uint64_t id, uint64_t token, uint64_t clock_us,
		      int64_t lease_ms, dlk_time now)
{
	struct sim_client *c = arg;

	for (int i = 0; i < SIM_CLIENT_CALLERS; i++)
		sim_caller_pushed(&c->callers[i], id, token, clock_us, lease_ms,
				  now);
}

static void on_wake(void *arg, uint64_t id, dlk_time now)
{
	struct sim_client *c = arg;

	for (int i = 0; i < SIM_CLIENT_CALLERS; i++)
		sim_caller_wake(&c->callers[i], id, now);
}

static void on_look(void *arg, dlk_time now)
{
	on_wake(arg, 0, now);
}

static void on_up(void *arg, const struct dlki_agreed *agreed, dlk_time now)
{
	struct sim_client *c = arg;

	(void)now;
	c->agreed = *agreed;
	c->was_up = 1;
}

/* The program ends that cannot open the client: the name has addresses of two
 * servers, or the first server is refused. */
static void on_down(void *arg, dlk_time now)
{
	struct sim_client *c = arg;
	struct dlk_error why;

	(void)now;
	dlki_engine_why(c->engine, &why);
	c->is_refused |= why.code == DLOCK_EINVAL ||
			 (!c->was_up && why.code != DLOCK_EUNREACHABLE);
}

static void on_moved(void *arg, const char *text, dlk_time now)
{
	struct sim_client *c = arg;

	sim_net_note(c->net, "client %d: %s", c->number, text);
	for (int i = 0; i < SIM_CLIENT_CALLERS; i++)
		sim_caller_check(&c->callers[i], now);
}

static const struct dlki_news news = {
	.pushed = on_pushed,
	.wake = on_wake,
	.look_again = on_look,
	.up = on_up,
	.down = on_down,
	.moved = on_moved,
};

/* ---- Lives --------------------------------------------------------------- */

static void make_engine(struct sim_client *c)
{
	struct dlki_address address = sim_net_address(SIM_PLACES);
	struct dlki_engine_options options = {
		.world = &c->world.base,
		.protocol = c->protocol,
		.uri = c->uri,
		.label = "sim",
		.place.host = c->net->weather.has_name ? SIM_NAME : NULL,
		.place.port = SIM_PORT,
		.place.addresses = &address,
		.place.n_addresses = 1,
		.news = &news,
		.arg = c,
		.connect_ms = SIM_PATIENCE_MS,
		.patience_ms = SIM_PATIENCE_MS,
	};
	struct dlk_error err;

	c->engine = dlki_engine_new(&options, &err);
	if (!c->engine)
		sim_panic("no engine: %s", err.text);
}

void sim_client_begin(struct sim_client *c)
{
	c->life++;
	c->is_refused = c->was_up = 0;
	sim_net_note(c->net, "client %d begins life %u", c->number, c->life);
	sim_world_begin(&c->world, c->net,
			(uint64_t)c->life << 8 | (uint64_t)c->number);
	c->agreed = (struct dlki_agreed){
		.lease_ms = (int64_t)c->net->weather.lease_ms
	};
	make_engine(c);
	(void)dlki_lock(c->engine);
	for (int i = 0; i < SIM_CLIENT_CALLERS; i++) {
		struct sim_caller *caller = &c->callers[i];

		*caller = (struct sim_caller){
			.engine = c->engine,
			.world = &c->world,
			.judge = c->judge,
			.agreed = &c->agreed,
			.life = c->life,
			.number = 1 + c->number * SIM_CLIENT_CALLERS + i,
			.others = c->callers,
			.n_others = SIM_CLIENT_CALLERS,
			.claim_size = c->protocol->claim_size,
		};
		sim_caller_begin(caller);
	}
	dlki_push(c->engine);
	dlki_unlock(c->engine);
}

void sim_client_kill(struct sim_client *c)
{
	if (!c->engine)
		return;
	sim_net_note(c->net, "client %d is killed", c->number);
	sim_world_kill(&c->world);
	for (int i = 0; i < SIM_CLIENT_CALLERS; i++)
		sim_caller_end(&c->callers[i]);
	dlki_engine_free(c->engine);
	c->engine = NULL;
	for (int i = 0; i < SIM_CLIENT_CALLERS; i++) {
		if (!sim_caller_is_idle(&c->callers[i]))
			sim_judge_fault(c->judge, "caller %d: an op is left",
					c->callers[i].number);
		free(c->callers[i].claim);
	}
}

/* ---- Turns --------------------------------------------------------------- */

int64_t sim_client_due(const struct sim_client *c)
{
	int64_t due = c->net->now;
	int awaits;

	if (!c->engine)
		return c->paused_until;
	awaits = sim_world_awaits(&c->world);
	if (!sim_world_has_events(&c->world, awaits ? DLKI_BIT(DLKI_NEWS) :
						      DLKI_ALL_SETS)) {
		due = sim_world_true(&c->world,
				     dlki_heap_next(&c->engine->alarms.heap));
		if (c->world.answer_at < due && !awaits)
			due = c->world.answer_at;
	}
	return due < c->paused_until ? c->paused_until : due;
}

/* The client goes on when the sleep is over.  Returns whether it sleeps. */
static int pause_asleep(struct sim_client *c)
{
	int sleeps = c->world.slept_ns > 0;

	if (sleeps)
		c->paused_until = c->net->now + c->world.slept_ns;
	c->world.slept_ns = 0;
	return sleeps;
}

/* Run turns until a turn waits in vain. */
static void turn(struct sim_client *c, unsigned int sets)
{
	int turns = 0;

	(void)dlki_lock(c->engine);
	do {
		if (++turns == TURNS)
			sim_panic("a client turns without end");
		dlki_turn(c->engine, sets, DLK_FOREVER);
	} while (c->world.has_work && c->world.slept_ns == 0);
	dlki_unlock(c->engine);
}

/* Sometimes a caller leads the answers' set, and waits in await(). */
static void lead(struct sim_client *c)
{
	if (c->world.slept_ns > 0 || c->net->awaited ||
	    sim_draw(c->net->chance, "await", 3) == 0)
		return;
	(void)dlki_lock(c->engine);
	dlki_turn_for_answer(c->engine, DLKI_BIT(DLKI_ANSWERS), DLK_FOREVER);
	dlki_unlock(c->engine);
	if (c->world.resumed_at < c->paused_until)
		c->world.resumed_at = c->paused_until;
	if (c->world.slept_ns == 0)
		turn(c, DLKI_ALL_SETS);
}

/* The threads that are not in await() run. */
static void run_others(struct sim_client *c)
{
	turn(c, DLKI_BIT(DLKI_NEWS));
	(void)dlki_lock(c->engine);
	if (c->world.slept_ns == 0)
		dlki_push(c->engine);
	dlki_unlock(c->engine);
	pause_asleep(c);
}

/* Check that the client has read all bytes it was told of, or sleeps. */
static void check(struct sim_client *c)
{
	int unread = sim_world_unread(&c->world);

	if (!pause_asleep(c) && unread >= 0)
		sim_judge_fault(c->judge, "wire %d: told, but not read",
				unread);
}

void sim_client_run(struct sim_client *c)
{
	const struct sim_weather *w = &c->net->weather;
	struct sim_chance *chance = c->net->chance;

	if (!c->engine) {
		sim_client_begin(c);
		return;
	}
	if (c->world.resumed_at < c->paused_until)
		c->world.resumed_at = c->paused_until;
	if (sim_world_awaits(&c->world)) {
		run_others(c);
		return;
	}
	if (sim_happens(chance, "memory", w->memory))
		sim_allocation_fail(1 + sim_draw(chance, "memory:nth", 10));
	turn(c, DLKI_ALL_SETS);
	sim_allocation_fail(0);
	lead(c);
	check(c);
	if (sim_happens(chance, "kill", w->kill) || c->is_refused) {
		sim_client_kill(c);
		c->paused_until = c->net->now +
				  (int64_t)sim_draw(chance, "kill:for", 1000) *
					  MS;
	}
}

void sim_client_heal(struct sim_client *c)
{
	if (c->paused_until > c->net->now)
		c->paused_until = c->net->now;
	if (c->world.answer_at != SIM_NEVER && c->world.answer_at > c->net->now)
		c->world.answer_at = c->net->now;
	for (int i = 0; c->engine && i < SIM_CLIENT_CALLERS; i++)
		sim_caller_heal(&c->callers[i]);
}

int sim_client_rests(const struct sim_client *c)
{
	for (int i = 0; c->engine && i < SIM_CLIENT_CALLERS; i++) {
		if (c->callers[i].state != SIM_IDLE ||
		    !sim_caller_is_idle(&c->callers[i]))
			return 0;
	}
	return 1;
}
