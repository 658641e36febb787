/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For any bytes: a name that the check accepts has a key of the promised form,
 * a short form can be turned back into the name, and different names have
 * different keys.
 */
#include "core/name.h"
#include "tests/fuzz/fuzz.h"

/* Turn the body of a key of form n or e back into the name. */
static void decode(const char *key, char *name)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned int bits = 0, n_bits = 0;

	if (key[1] == 'n') {
		strcpy(name, key + 2);
		return;
	}
	for (const char *s = key + 2; *s; s++) {
		const char *digit = strchr(digits, *s);

		REQUIRE(digit);
		bits = (bits << 5 | (unsigned int)(digit - digits)) & 0xfff;
		n_bits += 5;
		if (n_bits >= 8) {
			n_bits -= 8;
			*name++ = (char)(bits >> n_bits & 0xff);
		}
	}
	REQUIRE((bits & ((1u << n_bits) - 1)) == 0);
	*name = '\0';
}

static void check_key(enum dlk_kind kind, const char *name, const char *key)
{
	size_t len = strlen(key);
	char again[DLKI_KEY_SIZE];

	REQUIRE(len >= 2 && len <= 64);
	REQUIRE(strspn(key, "0123456789abcdefghijklmnopqrstuvwxyz") == len);
	REQUIRE(key[0] == "ls"[kind]);
	REQUIRE(strchr("neh", key[1]));
	if (key[1] == 'h') {
		REQUIRE(len == 54);
		return;
	}
	decode(key, again);
	REQUIRE(strcmp(again, name) == 0);
}

static void check_neighbour(const char *name, const char *key)
{
	char other[DLKI_NAME_MAX + 1], other_key[DLKI_KEY_SIZE];

	strcpy(other, name);
	other[strlen(name) / 2] ^= 1;
	if (dlki_name_check(other, NULL) < 0)
		return;
	dlki_name_key(DLK_LOCK, other, other_key);
	REQUIRE(strcmp(key, other_key) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);
	char key[DLKI_KEY_SIZE];
	struct dlk_error err;

	if (!name)
		return 0;
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	if (dlki_name_check(name, &err) < 0) {
		REQUIRE(err.code == DLOCK_EINVAL);
		require_text(err.text);
	} else {
		for (int kind = DLK_SEMAPHORE; kind >= DLK_LOCK; kind--) {
			dlki_name_key((enum dlk_kind)kind, name, key);
			check_key((enum dlk_kind)kind, name, key);
		}
		check_neighbour(name, key);
	}
	free(name);
	return 0;
}
