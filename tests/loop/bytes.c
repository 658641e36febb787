/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "core/net/bytes.h"
#include "core/net/address.h"
#include "support/address.h"

/* ---- Bytes --------------------------------------------------------------- */

Test(bytes, make_room_in_front_of_more_memory)
{
	struct dlki_bytes b = { 0 };
	char in[900];
	char *v;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (char)i;
	cr_assert_eq(dlki_bytes_reserve(&b, sizeof(in)), 0);
	dlki_bytes_append(&b, in, sizeof(in));
	dlki_bytes_append(&b, NULL, 0);
	dlki_bytes_take(&b, 800);
	v = b.v;
	cr_assert_eq(dlki_bytes_reserve(&b, 500), 0);
	cr_assert_eq(b.v, v);
	cr_assert_eq(memcmp(dlki_bytes_at(&b), in + 800, 100), 0);
	dlki_bytes_take(&b, 10);
	cr_assert_eq(dlki_bytes_reserve(&b, 200000), 0);
	cr_assert_eq(memcmp(dlki_bytes_at(&b), in + 810, 90), 0);
	cr_assert_eq(dlki_bytes_reserve(&b, SIZE_MAX / 2), DLOCK_ENOMEM);
	cr_assert_eq(dlki_bytes_len(&b), 90);
	dlki_bytes_clear(&b);
	cr_assert_null(b.v, "so much is not kept");
}

/* ---- Addresses ----------------------------------------------------------- */

Test(address, is_told_as_it_was_given)
{
	char text[DLKI_ADDRESS_TEXT], path[200];
	struct dlki_address a;

	cr_assert_eq(address_tcp(&a, "127.0.0.1", 6379), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "127.0.0.1:6379");
	cr_assert_eq(address_tcp(&a, "::1", 1), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "[::1]:1");
	cr_assert_eq(address_tcp(&a, "localhost", 1), DLOCK_EINVAL);
	cr_assert_eq(dlki_address_unix(&a, "/run/x", NULL), 0);
	dlki_address_text(&a, text);
	cr_assert_str_eq(text, "/run/x");
	cr_assert_eq(dlki_address_unix(&a, "", NULL), DLOCK_EINVAL);
	memset(path, 'x', sizeof(path));
	path[108] = '\0';
	cr_assert_eq(dlki_address_unix(&a, path, NULL), DLOCK_EINVAL);
	path[107] = '\0';
	cr_assert_eq(dlki_address_unix(&a, path, NULL), 0);
}
