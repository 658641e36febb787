/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's part of a mix of all features: clients with keep=, broken
 * locks, and the count of uses. */
#include <inttypes.h>
#include <stdio.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#define KEEP_PC 40 /* of the ttl; half of it at most */
#define PASSES 2

int chaos_mix_start(struct chaos *c)
{
	int rc;

	if (c->o.mix != CHAOS_MIX_ALL)
		return 0;
	rc = dlock_open(&c->client, c->uri[1], NULL);
	if (rc != DLOCK_OK)
		return lab_fail("%s: %s", c->uri[1], dlock_errmsg());
	c->caps = dlock_caps(c->client);
	c->breaker = (struct chaos_breaker){ .client = c->client,
					     .history = c->history,
					     .counters = c->counters,
					     .random = { c->o.seed },
					     .ttl_ms = c->o.ttl_ms };
	return 0;
}

/* Only while no server and no link between servers has a fault: then breaks are
 * answered. */
void chaos_mix_turn(struct chaos *c)
{
	struct chaos_deck *server = &c->deck[CHAOS_SERVER];
	int64_t quiet = lab_after_ms(c->o.ttl_ms);

	if (!c->client || server->now || c->deck[CHAOS_LINKS].now ||
	    !chaos_breaker_turn(&c->breaker, c->deck[CHAOS_VICTIMS].now))
		return;
	if (server->quiet_until < quiet)
		server->quiet_until = quiet;
}

void chaos_mix_end(struct chaos *c)
{
	dlock_close(c->client);
	c->client = NULL;
}

const char *chaos_mix_word(const struct chaos *c)
{
	return c->o.mix == CHAOS_MIX_ALL ? "all" : "locks";
}

/* Every third worker goes straight to the store.  In a mix, every second keeps
 * and passes locks. */
void chaos_mix_uri(const struct chaos *c, int number, char *out, size_t size)
{
	const char *uri = c->uri[number % 3 == 2];

	if (number % 2 == 0 && (c->caps & DLOCK_CAP_WANTED) != 0)
		snprintf(out, size, "%s&keep=%" PRId64 "ms&passes=%d", uri,
			 c->o.ttl_ms * KEEP_PC / 100, PASSES);
	else
		snprintf(out, size, "%s", uri);
}

static bool has(const struct chaos *c, const struct chaos_feature_row *f)
{
	return (f->cap & ~c->caps) == 0;
}

int chaos_mix_unused(const struct chaos *c)
{
	int unused = 0;

	if (c->o.mix != CHAOS_MIX_ALL)
		return 0;
	for (int i = 0; i < CHAOS_NFEATURES; i++)
		unused += has(c, &chaos_features[i]) &&
			  atomic_load(&c->counters->feature[i]) == 0;
	return unused;
}

void chaos_mix_print(const struct chaos *c)
{
	const struct chaos_feature_row *f;

	if (c->o.mix != CHAOS_MIX_ALL)
		return;
	printf("features:");
	for (int i = 0; i < CHAOS_NFEATURES; i++) {
		f = &chaos_features[i];
		printf("%s %s ", i > 0 ? "," : "", f->text);
		if (has(c, f))
			printf("%" PRIu64,
			       (uint64_t)atomic_load(&c->counters->feature[i]));
		else
			printf("not here");
	}
	printf("\n");
}
