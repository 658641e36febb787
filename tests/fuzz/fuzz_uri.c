/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For any bytes: the shown form of an accepted URI, which has no password, is
 * parsed to the same values; a refused URI has a printable message.
 */
#include "core/uri/params.h"
#include "core/uri/uri.h"
#include "tests/fuzz/fuzz.h"

/* The name of a password_file is empty, so no file is opened. */
static const struct dlk_param with_users[] = {
	{ "password_file", DLK_TEXT, NULL, 0, 0, NULL, "A file." },
	{ "old_password", DLK_TEXT, NULL, 0, 100, NULL, "A secret." },
	{ "db", DLK_NUMBER, "0", -15, 15, NULL, "A number." },
	{ "noisy", DLK_SWITCH, "off", 0, 0, NULL, "A switch." },
	{ "protocol", DLK_CHOICE, "auto", 0, 0, "auto|text|meta", "A choice." },
	{ "lose", DLK_DURATION, NULL, 5, 1000, NULL, "A duration." },
	{ 0 }
};

static void check_same(const struct dlk_uri *a, const struct dlk_uri *b)
{
	REQUIRE(strcmp(a->shown, b->shown) == 0);
	REQUIRE(strcmp(a->scheme, b->scheme) == 0);
	REQUIRE(!a->path == !b->path);
	REQUIRE(!a->path || strcmp(a->path, b->path) == 0);
	REQUIRE(!a->user == !b->user);
	REQUIRE(!a->user || strcmp(a->user, b->user) == 0);
	REQUIRE(!b->password);
	REQUIRE(a->n_hosts == b->n_hosts);
	for (size_t i = 0; i < a->n_hosts; i++) {
		REQUIRE(strcmp(a->hosts[i].name, b->hosts[i].name) == 0);
		REQUIRE(a->hosts[i].port == b->hosts[i].port);
	}
	for (const struct dlk_param *p = dlki_common_params; p->name; p++) {
		if (p->type != DLK_TEXT)
			REQUIRE(dlk_param_int(a, p->name) ==
				dlk_param_int(b, p->name));
	}
}

static void try_table(const char *text, const struct dlk_param *own)
{
	struct dlk_uri *uri, *again;
	struct dlk_error err;

	if (dlki_uri_parse(&uri, text, own, NULL, &err) < 0) {
		REQUIRE(err.code == DLOCK_EINVAL);
		require_text(err.text);
		return;
	}
	require_text(uri->shown);
	if (strlen(uri->shown) <= DLKI_URI_MAX) {
		REQUIRE(dlki_uri_parse(&again, uri->shown, own, NULL, &err) ==
			0);
		check_same(uri, again);
		dlki_uri_free(again);
	}
	dlki_uri_free(uri);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	try_table(text, with_users);
	try_table(text, NULL);
	free(text);
	return 0;
}
