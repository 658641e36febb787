/* SPDX-License-Identifier: Apache-2.0 */
/* A batch in parts while all servers are down, and the next tries to connect an
 * age away. */
#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/memcached/batch.h"
#include "core/loop/links.h"
#include "core/loop/state.h"
#include "core/world/real.h"
#include "support/address.h"
#include "support/wait.h"
#include "tests/loop/lines.h"

enum { SERVERS = 3 };

static struct memc_server servers[SERVERS];
static struct memc_session session = { .servers = servers, .n = SERVERS };
static struct memc_ticket tickets[SERVERS];
static int unreachable[SERVERS];
static int bound; /* where no server listens */

/* 1: the server has refused the connection, and is left alone from now on. */
static int is_put_off(struct dlki_session *s)
{
	struct dlki_link *l = s->engine->links[0];
	int is_down;

	dlki_session_lock(s);
	is_down = s->engine->tries > 0 && l->state == DLKI_LINK_DOWN;
	if (is_down) {
		l->retry_at = DLK_FOREVER - 1;
		dlki_links_tend(l);
	}
	dlki_session_unlock(s);
	return is_down;
}

static void start(struct dlki_session *s, const struct dlki_address *address)
{
	static const struct dlki_news news = {
		.down = dlki_session_down,
	};
	struct dlki_engine_options options = {
		.protocol = &lines_protocol,
		.place.addresses = address,
		.place.n_addresses = 1,
		.connect_ms = patience_ms(),
		.patience_ms = patience_ms(),
		.news = &news,
		.arg = s,
	};
	struct dlk_error err;

	s->world = dlki_real_new(&err);
	options.world = s->world;
	s->engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(s->engine);
	cr_assert_eq(dlki_drive_begin(s->engine, NULL, &err), 0);
}

static void setup(void)
{
	struct dlki_address address;

	bound = address_bound(&address);
	for (size_t i = 0; i < SERVERS; i++) {
		start(&servers[i].engine, &address);
		tickets[i].server = &servers[i];
		EVENTUALLY(is_put_off(&servers[i].engine));
	}
}

static void teardown(void)
{
	for (size_t i = 0; i < SERVERS; i++)
		dlki_session_close(&servers[i].engine);
	close(bound);
}

TestSuite(memcached_batch, .init = setup, .fini = teardown, .timeout = 120);

static void add(struct memc_batch *b, struct dlki_opcall *call,
		struct memc_ticket *t)
{
	dlki_opcall_op_prepare(&t->ask, &t->server->engine, DLKI_RENEW,
			       b->deadline);
	dlki_opcall_add(call, &t->ask);
}

static void take(struct memc_batch *b, struct dlki_opcall *call, size_t i)
{
	const struct memc_ticket *t = (struct memc_ticket *)b->tickets[i];

	(void)call;
	unreachable[t - tickets] = t->ask.unreachable;
}

/* Leave the tickets of the servers without an answer. */
static size_t take_pending(struct dlk_ticket **v, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct memc_ticket *t = (struct memc_ticket *)v[i];

		if (t->server->in_batch)
			v[left++] = v[i];
	}
	return left;
}

Test(memcached_batch, tries_each_server_that_is_down_at_once)
{
	struct dlk_ticket *v[SERVERS];
	struct memc_batch b = { .session = &session,
				.tickets = v,
				.n = SERVERS,
				.add = add,
				.take = take };

	b.deadline = dlk_now() + patience_ms() * DLK_MS;
	for (size_t i = 0; i < SERVERS; i++)
		v[i] = &tickets[i].base;
	for (size_t left = SERVERS; left > 0; b.n = left) {
		dlki_memc_batch_part(&b);
		cr_assert_eq(take_pending(v, left), left - 1,
			     "a part is a single server's");
		left--;
	}
	for (size_t i = 0; i < SERVERS; i++)
		cr_assert(unreachable[i], "server %zu was not tried", i);
}

static int taken[SERVERS];

static void note_taken(struct memc_batch *b, struct dlki_opcall *call, size_t i)
{
	(void)call;
	taken[(struct memc_ticket *)b->tickets[i] - tickets]++;
}

/* The server takes the connection, and says nothing. */
Test(memcached_batch, takes_a_result_beside_an_op_under_way)
{
	struct dlk_ticket *v[] = { &tickets[0].base, &tickets[1].base };
	struct memc_batch b = { .session = &session,
				.tickets = v,
				.n = 2,
				.add = add,
				.take = note_taken };

	cr_assert_eq(listen(bound, 1), 0);
	tickets[1].server = &servers[0];
	b.deadline = dlk_now() + patience_ms() * DLK_MS;
	dlki_memc_batch_part(&b);
	cr_expect(tickets[0].in_batch && tickets[1].in_batch);
	dlki_session_lock(&servers[0].engine);
	dlki_cancel(&tickets[0].ask.base);
	dlki_session_unlock(&servers[0].engine);
	dlki_memc_batch_part(&b);
	cr_expect(taken[0] == 1 && !tickets[0].in_batch);
	cr_expect(taken[1] == 0 && tickets[1].in_batch);
	b.tickets = &v[1];
	b.n = 1;
	b.deadline = 0; /* a part looks at a single server */
	for (int i = 0; i < SERVERS; i++)
		dlki_memc_batch_part(&b);
	cr_expect(taken[1] == 1 && !servers[0].in_batch);
}
