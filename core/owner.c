/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owner.h"

#include <dlock/backend_net.h>
#include <errno.h>
#include <string.h>

#define OWNER_BYTES 16

/* The pool counts as filled only when all of it is. */
static int refill_pool(struct dlki_owners *o, struct dlk_error *err)
{
	int rc = dlk_random(o->pool, sizeof(o->pool), err);

	if (rc == 0)
		o->left = sizeof(o->pool);
	return rc;
}

/* Bytes that were handed out do not stay in the pool: an owner id is the right
 * to release, and no two requests may ever get the same bytes. */
static int draw_bytes(struct dlki_owners *o, void *out, size_t size,
		      struct dlk_error *err)
{
	int saved = errno;
	int rc = DLOCK_OK;

	pthread_mutex_lock(&o->mu);
	if (o->left < size)
		rc = refill_pool(o, err);
	if (rc == DLOCK_OK) {
		unsigned char *p = o->pool + sizeof(o->pool) - o->left;

		memcpy(out, p, size);
		explicit_bzero(p, size);
		o->left -= size;
	}
	pthread_mutex_unlock(&o->mu);
	errno = saved;
	return rc;
}

int dlki_owners_init(struct dlki_owners *o, struct dlk_error *err)
{
	int saved = errno;
	int rc;

	o->left = 0;
	rc = refill_pool(o, err);
	errno = saved;
	if (rc == DLOCK_OK)
		pthread_mutex_init(&o->mu, NULL);
	return rc;
}

void dlki_owners_destroy(struct dlki_owners *o)
{
	explicit_bzero(o->pool, sizeof(o->pool));
	o->left = 0;
	pthread_mutex_destroy(&o->mu);
}

int dlki_owner_new(struct dlki_owners *o, char out[DLKI_OWNER_SIZE],
		   struct dlk_error *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char id[OWNER_BYTES];
	int rc = draw_bytes(o, id, sizeof(id), err);

	if (rc != DLOCK_OK)
		return rc;
	for (size_t i = 0; i < sizeof(id); i++) {
		out[2 * i] = digits[id[i] >> 4];
		out[2 * i + 1] = digits[id[i] & 15];
	}
	out[2 * sizeof(id)] = '\0';
	explicit_bzero(id, sizeof(id));
	return DLOCK_OK;
}

/* Jitter need not be secret, so the time serves where the kernel gives no
 * random bits. */
uint64_t dlki_owner_seed(struct dlki_owners *o)
{
	uint64_t seed;

	if (draw_bytes(o, &seed, sizeof(seed), NULL) != DLOCK_OK)
		seed = (uint64_t)dlk_now();
	return seed;
}
