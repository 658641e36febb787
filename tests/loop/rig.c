/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/rig.h"
#include "support/address.h"

#include <criterion/criterion.h>

struct dlki_tls_context *rig_tls;

static void begin(struct dlki_engine_options options)
{
	rig_free();
	rig_clear();
	options.protocol = &lines_protocol;
	options.tls = rig_tls;
	options.patience_ms = 1000;
	rig_begin_engine(options);
	for (int i = 0; i < RIG_OPS; i++) {
		rig.ops[i].done = rig_done;
		rig.ops[i].id = (uint64_t)i;
		rig.ops[i].token = (uint64_t)i;
	}
}

void rig_init(const char *label, size_t n_addresses)
{
	struct dlki_address addresses[4];

	for (uint16_t i = 0; i < n_addresses; i++)
		address_tcp(&addresses[i], "127.0.0.1", (uint16_t)(7000 + i));
	begin((struct dlki_engine_options){ .label = label,
					    .place.addresses = addresses,
					    .place.n_addresses = n_addresses });
}

void rig_init_host(const char *label, const char *host, const char *path)
{
	begin((struct dlki_engine_options){ .label = label,
					    .place.host = host,
					    .place.port = 7000,
					    .place.path = path });
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
	cr_assert_eq(rig.lease_ms, 1000);
}

void rig_up(void)
{
	rig_init_up("");
}

void rig_free(void)
{
	const struct lines *p;

	if (!rig.e)
		return;
	p = (const struct lines *)rig.e->store;
	cr_assert(!p->went_back, "`now` went back");
	rig_end_engine();
}

void rig_push(void)
{
	dlki_push(rig.e);
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
