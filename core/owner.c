/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owner.h"

#include <dlock/backend.h>
#include <errno.h>
#include <string.h>

#define OWNER_BYTES 16

static void refill_pool(struct dlki_owners *o)
{
	static const unsigned char nonce[12];

	dlki_chacha_run(o->key, nonce, 0, o->pool);
	memcpy(o->key, o->pool, sizeof(o->key));
	explicit_bzero(o->pool, sizeof(o->key));
	o->left = sizeof(o->pool) - sizeof(o->key);
}

/* Bytes handed out do not stay in the pool: an owner id is the right to
 * release, and no two requests may ever get the same bytes.  The claim has the
 * id anyway, so a copy on the stack is not wiped. */
static inline void draw_bytes(struct dlki_owners *o, void *out, size_t size)
{
	unsigned char *p;

	if (o->left < size)
		refill_pool(o);
	p = o->pool + sizeof(o->pool) - o->left;
	memcpy(out, p, size);
	explicit_bzero(p, size);
	o->left -= size;
}

int dlki_owners_init(struct dlki_owners *o, struct dlk_error *err)
{
	int saved = errno;
	int rc = dlk_random(o->key, sizeof(o->key), err);

	o->left = 0;
	errno = saved;
	return rc;
}

void dlki_owners_destroy(struct dlki_owners *o)
{
	explicit_bzero(o, sizeof(*o));
}

static char digit(int n)
{
	return (char)(n + (n < 10 ? '0' : 'a' - 10));
}

/* In an order suited to vector instructions. */
void dlki_owner_new(struct dlki_owners *o, char out[DLKI_OWNER_SIZE])
{
	unsigned char id[OWNER_BYTES];

	draw_bytes(o, id, sizeof(id));
	for (size_t i = 0; i < OWNER_BYTES; i++) {
		out[i] = digit(id[i] >> 4);
		out[OWNER_BYTES + i] = digit(id[i] & 15);
	}
	out[DLKI_OWNER_SIZE - 1] = '\0';
}

uint64_t dlki_owner_seed(struct dlki_owners *o)
{
	uint64_t seed;

	draw_bytes(o, &seed, sizeof(seed));
	return seed;
}
