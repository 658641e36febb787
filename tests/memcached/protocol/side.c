/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/memcached/protocol/side.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "backends/memcached/protocol/store.h"
#include "core/base/clock.h"
#include "support/wait.h"

extern const struct dlock_backend dlki_memcached_backend;

static int grants(const struct side *s)
{
	dlk_time from;
	int up;

	cr_assert_eq(dlki_lock(s->engine), 0);
	up = dlki_engine_is_up(s->engine);
	from = dlki_memc_store_grants_from(s->engine->store);
	dlki_unlock(s->engine);
	return up && dlk_now() >= from;
}

void side_grown_up(const struct side *s)
{
	EVENTUALLY(grants(s));
}

void side_open_memcached(struct side *s, const char *protocol,
			 const char *query)
{
	const struct side_store store = {
		.protocol = &dlki_memc_protocol,
		.params = dlki_memcached_backend.params,
		.before = "memcached://",
	};
	char more[120];

	snprintf(more, sizeof(more), "&protocol=%s%s", protocol, query);
	side_open(s, &store, more);
}

void side_begin(const char *protocol,
		const struct lab_memcached_options *options)
{
	server = lab_memcached_start(options);
	cr_assert_not_null(server);
	side_open_memcached(&side_a, protocol, "");
	side_open_memcached(&side_b, protocol, "");
	side_grown_up(&side_a);
	side_grown_up(&side_b);
}

uint64_t side_born_s(const struct side *s)
{
	return ((struct memc_store *)s->engine->store)->run.born_s;
}

const char *server_says(const char *line)
{
	static char reply[65536];

	cr_assert_eq(lab_memcached_do(server, reply, sizeof(reply), line), 0);
	return reply;
}
