/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for requests: a flight lands when the last of them is answered. */
#include "backends/zk/zk.h"

#include <stdlib.h>

static struct zk_flight *take_flight(struct zk_hub *h)
{
	struct zk_flight *flight = h->flights;

	if (flight) {
		h->flights = flight->next;
		return flight;
	}
	flight = calloc(1, sizeof(*flight));
	if (flight)
		dlki_zk_cond_init(&flight->landed);
	return flight;
}

void dlki_zk_flights_free(struct zk_hub *h)
{
	while (h->flights) {
		struct zk_flight *flight = h->flights;

		h->flights = flight->next;
		pthread_cond_destroy(&flight->landed);
		free(flight);
	}
}

/* Without memory for a flight: nobody signals, so that it is looked often. */
static void look_often(struct zk_hub *h, struct zk_call *const calls[],
		       size_t n, dlk_time deadline)
{
	for (size_t i = 0; i < n; i++) {
		while (calls[i] && !calls[i]->done && dlk_now() < deadline)
			dlki_zk_sleep(&h->changed, h, dlk_now() + ZK_MS);
	}
}

void dlki_zk_wait(struct zk_hub *h, struct zk_call *const calls[], size_t n,
		  dlk_time deadline)
{
	struct zk_flight *flight = take_flight(h);

	if (!flight) {
		look_often(h, calls, n, deadline);
		return;
	}
	flight->left = 0;
	for (size_t i = 0; i < n; i++) {
		if (calls[i] && !calls[i]->done) {
			calls[i]->flight = flight;
			flight->left++;
		}
	}
	while (flight->left > 0 &&
	       dlki_zk_sleep(&flight->landed, h, deadline) != 0)
		continue;
	for (size_t i = 0; i < n; i++) {
		if (calls[i])
			calls[i]->flight = NULL;
	}
	flight->next = h->flights;
	h->flights = flight;
}
