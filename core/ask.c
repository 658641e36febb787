/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ask.h"

#include "core/client.h"

void dlki_ask_init(struct dlki_ask *ask, const struct dlk_uri *uri)
{
	ask->given = dlk_param_given(uri, "ask");
	atomic_init(&ask->ms, dlk_param_int(uri, "ask"));
	pthread_mutex_init(&ask->mu, NULL);
}

void dlki_ask_destroy(struct dlki_ask *ask)
{
	pthread_mutex_destroy(&ask->mu);
}

int64_t dlki_ask_ms(const struct dlki_ask *ask)
{
	return atomic_load_explicit(&ask->ms, memory_order_relaxed);
}

/* Of several requests answered at once, a single sample tells enough.  A part
 * of a millisecond counts as a whole. */
void dlk_answered(struct dlk_session *s, dlk_time sent, dlk_time answered)
{
	struct dlock_client *c = s->core;
	struct dlki_ask *ask = &c->ask;
	int64_t ns, ms;

	if (ask->given || pthread_mutex_trylock(&ask->mu) != 0)
		return;
	dlki_roundtrip_heard(&ask->roundtrip, answered - sent);
	ns = dlki_roundtrip_wait_ns(&ask->roundtrip);
	ms = (ns + DLK_MS - 1) / DLK_MS;
	if (ms != dlki_ask_ms(ask))
		atomic_store_explicit(&ask->ms, ms, memory_order_relaxed);
	pthread_mutex_unlock(&ask->mu);
}
