/* SPDX-License-Identifier: Apache-2.0 */
#include "core/owner.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(chacha);

/* RFC 8439, section 2.3.2: block 1 of the key 00 01 02 ... 1f. */
Test(chacha, is_that_of_the_rfc)
{
	static const unsigned char nonce[12] = { 0, 0, 0, 9, 0, 0, 0, 0x4a };
	static const unsigned char block[64] = {
		0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f,
		0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7,
		0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4,
		0x6c, 0x4e, 0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09,
		0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12,
		0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8,
		0xa2, 0x50, 0x3c, 0x4e,
	};
	unsigned char key[DLKI_CHACHA_KEY], out[DLKI_CHACHA_RUN];

	for (unsigned char i = 0; i < sizeof(key); i++)
		key[i] = i;
	/* The block stands in each of the four places of a run. */
	for (uint32_t place = 0; place < 4; place++) {
		dlki_chacha_run(key, nonce, 1 - place, out);
		cr_expect_arr_eq(out + 64 * place, block, sizeof(block),
				 "as block %u", (unsigned int)place);
	}
}

Test(chacha, never_repeats_a_block)
{
	static const unsigned char nonce[12];
	unsigned char key[DLKI_CHACHA_KEY] = { 0 };
	unsigned char a[DLKI_CHACHA_RUN], b[DLKI_CHACHA_RUN];

	dlki_chacha_run(key, nonce, 0, a);
	dlki_chacha_run(key, nonce, 4, b);
	for (size_t i = 0; i < sizeof(a); i += 64) {
		for (size_t j = 0; j < sizeof(b); j += 64) {
			cr_expect_arr_neq(a + i, b + j, 64);
			cr_expect(i == j || memcmp(a + i, a + j, 64) != 0);
		}
	}
}
