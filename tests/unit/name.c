/* SPDX-License-Identifier: Apache-2.0 */
#include "core/name.h"

#include <criterion/criterion.h>
#include <string.h>

#define PAIRS 30000

static const enum dlk_kind kinds[] = { DLK_LOCK, DLK_SEMAPHORE };

static void expect_bad(const char *name, const char *text)
{
	struct dlk_error err;

	cr_expect_eq(dlki_name_check(name, &err), DLOCK_EINVAL, "%s", text);
	cr_expect_eq(err.code, DLOCK_EINVAL);
	cr_expect_str_eq(err.text, text);
}

Test(name, what_is_accepted)
{
	static const char *const good[] = { "a",
					    "/",
					    ".",
					    "..",
					    "billing/nightly",
					    " ",
					    "a b",
					    "%00",
					    "\xc3\xa4",
					    "\xf0\x9f\x94\x92",
					    "\xef\xbf\xbf",
					    "'\"\\{}*?" };
	char longest[256];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect_eq(dlki_name_check(good[i], NULL), 0, "%s", good[i]);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	cr_expect_eq(dlki_name_check(longest, NULL), 0);
}

Test(name, what_is_refused_and_why)
{
	char too_long[300];

	memset(too_long, 'x', 256);
	too_long[256] = '\0';
	expect_bad(NULL, "the name is NULL");
	expect_bad("", "the name is empty");
	expect_bad(too_long, "the name is longer than 255 bytes");
	expect_bad("ab\n", "byte 3 of the name is a control character");
	expect_bad("\x7f", "byte 1 of the name is a control character");
	expect_bad("a\xc2\x80", "byte 2 of the name is a control character");
	expect_bad("a\xc3", "byte 2 of the name is not UTF-8");
	expect_bad("\xc0\xaf", "byte 1 of the name is not UTF-8");
	expect_bad("\xed\xa0\x80", "byte 1 of the name is not UTF-8");
}

Test(name, keys_of_each_form)
{
	static const struct {
		enum dlk_kind kind;
		const char *name, *key;
	} cases[] = {
		{ DLK_LOCK, "job", "lnjob" },
		{ DLK_SEMAPHORE, "0", "sn0" },
		{ DLK_LOCK, "a/b", "lemexwe" },
		{ DLK_LOCK, "Foo", "leizxw6" },
		{ DLK_SEMAPHORE, "\xc3\xa4", "seyosa" },
		{ DLK_LOCK, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		  "leifaucqkbifaucqkbifaucqkbifaucqkbifaucqkbifaucqkbifaucqkbif"
		  "auc" },
		{ DLK_LOCK, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		  "lhxg2rlbkoaqfy3yy5qxkzpk5crw2em76qu7low55dcac7jjt2r6zq" },
		{ DLK_LOCK,
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aa",
		  "lnaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaa" },
		{ DLK_LOCK,
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaa",
		  "lhpu7hjic5pwyvxtsk3hwamwhktdr7a3xoz4lljrx76lnek7o4f42a" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char key[DLKI_KEY_SIZE];

		dlki_name_key(cases[i].kind, cases[i].name, key);
		cr_expect_str_eq(key, cases[i].key, "%s", cases[i].name);
	}
}

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % n;
}

/* Makes a name much like the others: of few letters, and with a length near the
 * limits of the key's forms. */
static void random_name(char *name)
{
	static const size_t lengths[] = { 1, 2, 37, 38, 39, 61, 62, 63, 255 };
	static const char *const alphabets[] = { "ab", "aB", "a2/" };
	const char *alphabet = alphabets[draw(3)];
	size_t len = draw(2) ? lengths[draw(9)] : 1 + draw(255);

	for (size_t i = 0; i < len; i++)
		name[i] = alphabet[draw((uint32_t)strlen(alphabet))];
	name[len] = '\0';
}

static void mutate(char *name)
{
	size_t len = strlen(name);

	switch (draw(3)) {
	case 0:
		random_name(name);
		break;
	case 1:
		name[draw((uint32_t)len)] = "abAB/"[draw(5)];
		break;
	default:
		if (len < 255)
			memcpy(name + len, "a", 2);
		else
			name[len - 1] = '\0';
		break;
	}
}

static void assert_key(const char *key, enum dlk_kind kind)
{
	size_t len = strlen(key);

	cr_assert(len >= 2 && len <= 64, "%s", key);
	cr_assert_eq(strspn(key, "0123456789abcdefghijklmnopqrstuvwxyz"), len,
		     "%s", key);
	cr_assert_eq(key[0], "ls"[kind]);
}

Test(name, keys_are_injective_and_of_the_promised_form)
{
	for (int i = 0; i < PAIRS; i++) {
		char a[256], b[256];
		char key_a[DLKI_KEY_SIZE], key_b[DLKI_KEY_SIZE];
		enum dlk_kind kind_a = kinds[draw(2)], kind_b = kinds[draw(2)];

		random_name(a);
		memcpy(b, a, sizeof(b));
		mutate(b);
		cr_assert_eq(dlki_name_check(a, NULL), 0);
		dlki_name_key(kind_a, a, key_a);
		dlki_name_key(kind_b, b, key_b);
		assert_key(key_a, kind_a);
		assert_key(key_b, kind_b);
		cr_assert_eq(strcmp(key_a, key_b) == 0,
			     kind_a == kind_b && strcmp(a, b) == 0,
			     "'%s' and '%s'", a, b);
	}
}
