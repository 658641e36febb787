/* SPDX-License-Identifier: Apache-2.0 */
/* A bench: opens the store, and the workload measures each case. */
#include <stdlib.h>

#include "bench/store.h"
#include "lab/base/process.h"
#include "lab/servers/server.h"

/* Check that a lock works, and that tokens rise. */
static void check_store(const struct bench_store *s)
{
	struct bench_lock *l = bench_lock_open(&lock_dlock, s);
	uint64_t token[2];

	for (int i = 0; i < 2; i++) {
		lock_dlock.acquire(l);
		token[i] = dlock_token(l->hold);
		lock_dlock.release(l);
	}
	if (token[1] <= token[0] && !s->desc->no_token)
		bench_fail("%s: the token did not rise", s->uri);
	bench_lock_close(l);
}

static void store_close(struct bench_store *s)
{
	lab_server_free(s->server);
	lab_process_free(s->supervisor);
	free(s->dir);
	free(s->uri);
	*s = (struct bench_store){ 0 };
}

/* Open the store, unless it is open already. */
static void store_open(struct bench_store *s, const struct bench_case *c)
{
	const struct store_desc *desc = c->store ? c->store : run->bench->store;
	int ttl_ms = run->bench->ttl_ms;
	const char *query = run->bench->query;
	char *bare = NULL;

	if (s->desc == desc && s->variant == c->variant)
		return;
	store_close(s);
	s->desc = desc;
	s->variant = c->variant;
	desc->open(s);
	if (ttl_ms > 0 || query)
		bare = s->uri;
	if (ttl_ms > 0)
		s->uri = store_text("%s?ttl=%dms", bare, ttl_ms);
	else if (query)
		s->uri = store_text("%s%s", bare, query);
	free(bare);
	check_store(s);
}

void bench_measure(void)
{
	const struct workload *workload = run->bench->workload;
	const struct bench_case *c = run->bench->cases;
	struct bench_store s = { 0 };

	if (workload->pin)
		bench_pin();
	do {
		if (c->long_only && run->check)
			continue;
		store_open(&s, c);
		workload->measure(&s, c);
	} while ((++c)->n > 0 && !workload->together);
	store_close(&s);
}
