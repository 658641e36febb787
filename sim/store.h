/* SPDX-License-Identifier: Apache-2.0 */
/* The stores of a simulation: a protocol, the URI, and the model server. */
#ifndef DLOCK_SIM_STORE_H
#define DLOCK_SIM_STORE_H

#include "core/loop/protocol.h"
#include "sim/world/model.h"
#include "sim/world/weather.h"

struct sim_store {
	const char *name; /* for --store */
	enum sim_kind kind;
	const struct dlki_protocol *protocol;
	int64_t linger_ms; /* an entry lives so much longer than a lease of
			    * whole seconds, at most */
};

/* NULL: no such store. */
const struct sim_store *sim_store_find(const char *name);

/* The client's URI.  Panics if the store refuses it; dlki_uri_free() it. */
struct dlk_uri *sim_store_uri(const struct sim_store *s,
			      const struct sim_weather *w);

#endif
