/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ask.h"

#include "core/client.h"

/* Clip the time: a pause of the machine is no distance. */
static int64_t within_bounds(int64_t ns)
{
	if (ns < 1)
		return 1;
	return ns < DLKI_ROUNDTRIP_MOST_NS ? ns : DLKI_ROUNDTRIP_MOST_NS;
}

void dlki_roundtrip_heard(struct dlki_roundtrip *r, int64_t ns)
{
	int64_t off;

	ns = within_bounds(ns);
	if (r->smoothed_ns == 0) {
		r->smoothed_ns = ns;
		r->variation_ns = ns / 2;
		return;
	}
	off = ns - r->smoothed_ns;
	r->smoothed_ns = within_bounds(r->smoothed_ns + off / 8);
	off = off < 0 ? -off : off;
	r->variation_ns += (off - r->variation_ns) / 4;
}

int64_t dlki_roundtrip_wait_ns(const struct dlki_roundtrip *r)
{
	int64_t one = r->smoothed_ns + 4 * r->variation_ns;
	int64_t ns = one + 4 * r->smoothed_ns;

	if (ns < DLKI_ROUNDTRIP_LEAST_NS)
		return DLKI_ROUNDTRIP_LEAST_NS;
	return ns < DLKI_ROUNDTRIP_MOST_NS ? ns : DLKI_ROUNDTRIP_MOST_NS;
}

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
