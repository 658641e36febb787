/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/chacha.h"

#include <endian.h>
#include <string.h>

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
