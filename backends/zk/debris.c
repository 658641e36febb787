/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that could not be deleted.  The core asks again until their lease must
 * have run out, but a node lives as long as its session, which is kept for the
 * sake of others: so the hub remembers them until they or the session are gone.
 */
#include "backends/zk/zk.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_NS (200 * ZK_MS)
#define SWEEP_NS (1000 * ZK_MS)

struct zk_debris {
	struct zk_debris *next;
	struct zk_ticket ticket; /* a copy, with these for its strings: */
	char key[65];
	char owner[33];
};

static void unlink_next(struct zk_debris **at)
{
	struct zk_debris *d = *at;

	*at = d->next;
	free(d);
}

static struct zk_debris **find(struct zk_hub *h, const char *owner)
{
	struct zk_debris **at = &h->debris;

	while (*at && strcmp((*at)->owner, owner) != 0)
		at = &(*at)->next;
	return at;
}

void dlki_zk_debris_add(struct zk_hub *h, const struct zk_ticket *t)
{
	const struct dlk_claim *claim = &t->base.claim;
	struct zk_debris **at = find(h, claim->owner);

	if (*at)
		return;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return; /* it goes with the session */
	(*at)->ticket = *t;
	memcpy((*at)->key, claim->key, strlen(claim->key) + 1);
	memcpy((*at)->owner, claim->owner, strlen(claim->owner) + 1);
	(*at)->ticket.base.claim.key = (*at)->key;
	(*at)->ticket.base.claim.owner = (*at)->owner;
	h->sweep_at = dlk_now() + PAUSE_NS;
	pthread_cond_signal(&h->work);
}

void dlki_zk_debris_gone(struct zk_hub *h, const char *owner)
{
	struct zk_debris **at = h->debris ? find(h, owner) : &h->debris;

	if (*at)
		unlink_next(at);
}

dlk_time dlki_zk_debris_sweep(struct zk_hub *h)
{
	struct zk_ticket t;
	char key[65], owner[33];
	int rc;

	if (!h->debris || !h->link || h->link->state != ZK_UP)
		return DLK_FOREVER;
	if (h->sweep_at > dlk_now())
		return h->sweep_at;
	/* A copy again: a release may succeed meanwhile. */
	t = h->debris->ticket;
	memcpy(key, h->debris->key, sizeof(key));
	memcpy(owner, h->debris->owner, sizeof(owner));
	t.base.claim.key = key;
	t.base.claim.owner = owner;
	rc = dlki_zk_give_up(h, &t, dlk_now() + SWEEP_NS, NULL);
	if (rc == 0)
		dlki_zk_debris_gone(h, owner);
	else
		h->sweep_at = dlk_now() + PAUSE_NS;
	return dlk_now();
}

void dlki_zk_debris_free(struct zk_hub *h)
{
	while (h->debris)
		unlink_next(&h->debris);
}
