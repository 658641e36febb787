/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owner.h"

#include <dlock/backend.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

/* ---- The key stream ------------------------------------------------------ */

#define BLOCKS 4
#define WORDS 16 /* of a block */

/* A word of four blocks, which one instruction works on. */
typedef uint32_t word4 __attribute__((vector_size(BLOCKS * sizeof(uint32_t))));

static uint32_t word_at(const unsigned char *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return le32toh(word);
}

static inline word4 rotated(word4 w, int by)
{
	return w << by | w >> (32 - by);
}

static inline void quarter_round(word4 *a, word4 *b, word4 *c, word4 *d)
{
	*a += *b;
	*d = rotated(*d ^ *a, 16);
	*c += *d;
	*b = rotated(*b ^ *c, 12);
	*a += *b;
	*d = rotated(*d ^ *a, 8);
	*c += *d;
	*b = rotated(*b ^ *c, 7);
}

static void double_round(word4 s[WORDS])
{
	quarter_round(&s[0], &s[4], &s[8], &s[12]);
	quarter_round(&s[1], &s[5], &s[9], &s[13]);
	quarter_round(&s[2], &s[6], &s[10], &s[14]);
	quarter_round(&s[3], &s[7], &s[11], &s[15]);
	quarter_round(&s[0], &s[5], &s[10], &s[15]);
	quarter_round(&s[1], &s[6], &s[11], &s[12]);
	quarter_round(&s[2], &s[7], &s[8], &s[13]);
	quarter_round(&s[3], &s[4], &s[9], &s[14]);
}

void dlki_chacha_run(const unsigned char key[DLKI_CHACHA_KEY],
		     const unsigned char nonce[12], uint32_t counter,
		     unsigned char out[DLKI_CHACHA_RUN])
{
	static const unsigned char constant[] = "expand 32-byte k";
	word4 begin[WORDS], s[WORDS];

	for (size_t i = 0; i < 4; i++)
		begin[i] = (word4){ 0 } + word_at(constant + 4 * i);
	for (size_t i = 0; i < 8; i++)
		begin[4 + i] = (word4){ 0 } + word_at(key + 4 * i);
	begin[12] = (word4){ 0, 1, 2, 3 } + counter;
	for (size_t i = 0; i < 3; i++)
		begin[13 + i] = (word4){ 0 } + word_at(nonce + 4 * i);
	memcpy(s, begin, sizeof(s));
	for (size_t i = 0; i < 10; i++)
		double_round(s);
	for (size_t i = 0; i < WORDS; i++) {
		s[i] += begin[i];
		for (size_t block = 0; block < BLOCKS; block++) {
			uint32_t word = htole32(s[i][block]);

			memcpy(out + 64 * block + 4 * i, &word, sizeof(word));
		}
	}
	explicit_bzero(begin, sizeof(begin));
	explicit_bzero(s, sizeof(s));
}

/* ---- Owners -------------------------------------------------------------- */

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
