/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/store_rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/uri/uri.h"
#include "support/address.h"

struct dlk_request rig_request = {
	.name = "n",
	.key = "lnn",
	.owner = RIG_OWNER,
	.label = "me",
	.kind = DLK_LOCK,
	.mode = DLK_EXCLUSIVE,
};

/* ---- The server ---------------------------------------------------------- */

void rig_lose(int sock)
{
	script_ends(&rig.world, sock);
	rig_turn();
}

void rig_connected(int sock)
{
	for (int i = 0; i < 9 && rig.world.opened <= sock; i++)
		rig_turn_until(rig.world.clock + 500 * DLK_MS);
	cr_assert_eq(rig.world.opened, sock + 1);
	script_connected(&rig.world, sock);
	rig_turn();
}

void rig_say_slowly(int sock, const char *bytes)
{
	for (size_t i = 0; bytes[i]; i++) {
		script_says_bytes(&rig.world, sock, bytes + i, 1);
		rig_turn();
	}
}

const char *rig_heard(int sock)
{
	return script_heard(&rig.world, sock);
}

/* ---- Begin and end ------------------------------------------------------- */

void rig_open(const struct rig_store *store, const char *text)
{
	struct dlki_address address;
	struct dlk_error err;

	rig_end();
	rig_clear();
	cr_assert_eq(dlki_uri_parse(&rig.uri, text, store->params, NULL, &err),
		     0);
	cr_assert_eq(address_tcp(&address, "127.0.0.1", store->port), 0);
	rig_begin_engine((struct dlki_engine_options){
		.protocol = store->protocol,
		.uri = rig.uri,
		.label = "me",
		.place.addresses = &address,
		.place.n_addresses = 1,
		.patience_ms = store->patience_ms,
	});
	dlki_push(rig.e);
	script_connected(&rig.world, RIG_MAIN);
	rig_turn();
}

void rig_end(void)
{
	if (!rig.e)
		return;
	rig_end_engine();
	dlki_uri_free(rig.uri);
	for (int i = 0; i < RIG_OPS; i++)
		free(rig.claims[i]);
}

void rig_queue(int i, enum dlki_verb verb)
{
	size_t size = rig.e->protocol->claim_size;
	struct dlki_op *op = &rig.ops[i];

	op->verb = verb;
	if (!op->request && verb != DLKI_LIST)
		op->request = &rig_request;
	op->id = 100 + (uint64_t)i;
	op->deadline = op->deadline ? op->deadline : DLK_FOREVER;
	op->done = rig_done;
	if (!op->claim && size > 0 && verb <= DLKI_WATCH) {
		rig.claims[i] = calloc(1, size);
		op->claim = rig.claims[i];
	}
	cr_assert_eq(dlki_submit(rig.e, op), 0);
}

void rig_submit(int i, enum dlki_verb verb)
{
	rig_queue(i, verb);
	dlki_push(rig.e);
}
