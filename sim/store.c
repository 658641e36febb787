/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"
#include "backends/redis/protocol/store.h"
#include "core/uri/uri.h"
#include "sim/base/memory.h"
#include "sim/world/net.h"

extern const struct dlock_backend dlki_redis_backend;
extern const struct dlock_backend dlki_memcached_backend;

static const struct sim_store stores[] = {
	{ "redis", SIM_REDIS, &dlki_redis_protocol, 0 },
	{ "memcached", SIM_MEMCACHED, &dlki_memc_protocol, 3000 },
};

const struct sim_store *sim_store_find(const char *name)
{
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		if (strcmp(stores[i].name, name) == 0)
			return &stores[i];
	}
	return NULL;
}

struct dlk_uri *sim_store_uri(const struct sim_store *s,
			      const struct sim_weather *w)
{
	static const char *const dialects[] = { "auto", "text", "meta" };
	const struct dlk_param *params = s->kind == SIM_REDIS ?
						 dlki_redis_backend.params :
						 dlki_memcached_backend.params;
	struct dlk_error err;
	struct dlk_uri *uri;
	char text[80];
	int n = snprintf(text, sizeof(text),
			 "%s://127.0.0.1:%d?ttl=%" PRIu64 "ms", s->name,
			 SIM_PORT, w->lease_ms);

	if (s->kind == SIM_MEMCACHED)
		snprintf(text + n, sizeof(text) - (size_t)n, "&protocol=%s",
			 dialects[w->dialect]);
	if (dlki_uri_parse(&uri, text, params, NULL, &err) != 0)
		sim_panic("%s: %s", text, err.text);
	return uri;
}
