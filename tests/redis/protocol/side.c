/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/redis/protocol/side.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "backends/redis/protocol/store.h"
#include "core/base/clock.h"
#include "support/wait.h"

extern const struct dlock_backend dlki_redis_backend;

void side_open_redis(struct side *s, const char *login, const char *query)
{
	char before[64];
	const struct side_store store = {
		.protocol = &dlki_redis_protocol,
		.params = dlki_redis_backend.params,
		.before = before,
	};

	snprintf(before, sizeof(before), "redis://%s", login);
	side_open(s, &store, query);
}

void side_setup(void)
{
	server = lab_redis_start(NULL);
	cr_assert_not_null(server);
	side_open_redis(&side_a, "", "");
	side_open_redis(&side_b, "", "");
}

void claim_await_push(struct claim *c)
{
	struct side *s = c->side;
	dlk_time end = dlk_now() + patience_ms() * DLK_MS;
	struct dlki_waiter w;

	dlki_waiter_init(&w, DLKI_NEWS);
	cr_assert_eq(dlki_lock(s->engine), 0);
	s->parked = &w;
	while (s->pushed_id != c->op.id) {
		w.done = 0;
		cr_assert(dlki_drive(s->engine, &w, end), "no grant came");
	}
	s->parked = NULL;
	dlki_unlock(s->engine);
	cr_assert_eq(s->pushed_lease_ms, TTL_MS * slowness() / 2);
	c->token = s->pushed_token;
}

void claim_ask_in_vain(struct claim *c)
{
	int looks = c->side->looks;

	cr_assert_eq(claim_call(c, DLKI_ATTEMPT), DLKI_BUSY);
	if (looks == 0) {
		side_await(c->side, &c->side->looks, 1);
		cr_assert_eq(claim_call(c, DLKI_ATTEMPT), DLKI_BUSY);
	}
}
