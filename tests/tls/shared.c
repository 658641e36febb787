/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of a process share OpenSSL's context if they trust the same. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/net/tls_openssl.h"
#include "tests/tls/client.h"

static void end(void)
{
	client_close();
	certs_end();
}

TestSuite(shared, .init = certs_begin, .fini = end);

static const SSL_CTX *context_of(struct dlki_tls_context *c)
{
	return ((const struct dlki_tls_client *)c)->ssl;
}

static struct dlki_tls_context *open_with(const struct dlki_tls_options *o)
{
	struct dlk_error err;
	struct dlki_tls_context *c = dlki_tls_context_new(o, &err);

	cr_assert_not_null(c, "%s", err.text);
	return c;
}

/* Do a client with `o`, and then a client with `next`, share a context? */
static int share(const struct dlki_tls_options *o,
		 const struct dlki_tls_options *next)
{
	struct dlki_tls_context *first = open_with(o);
	struct dlki_tls_context *second = open_with(next);
	int is_same = context_of(first) == context_of(second);

	dlki_tls_context_free(first);
	dlki_tls_context_free(second);
	return is_same;
}

static void copy(const char *from, const char *to)
{
	char text[8192];
	FILE *f = fopen(certs_path(from), "re");
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	text[n] = '\0';
	fclose(f);
	certs_file(to, text, 0644);
}

Test(shared, by_clients_with_the_same_authorities)
{
	const struct dlki_tls_options full = { .ca = certs_path("ca.pem") };
	const struct dlki_tls_options named = { .ca = full.ca,
						.name = "localhost",
						.verify = DLKI_TLS_CA };
	const struct dlki_tls_options off = { .verify = DLKI_TLS_OFF };
	const struct dlki_tls_options other = { .ca = certs_path("other.pem") };

	cr_assert(share(&full, &full));
	cr_assert(share(&full, &named));
	cr_assert(share(&off, &off));
	cr_assert_not(share(&full, &other));
	cr_assert_not(share(&full, &off));
	cr_assert_not(share(&off, &full));
}

Test(shared, by_no_client_with_a_certificate)
{
	const struct dlki_tls_options plain = { .ca = certs_path("ca.pem") };
	const struct dlki_tls_options own = {
		.ca = plain.ca,
		.cert = certs_path("client.pem"),
		.key = certs_path("client.key"),
	};

	cr_assert_not(share(&own, &own));
	cr_assert_not(share(&own, &plain));
	cr_assert_not(share(&plain, &own));
}

/* The system's authorities may change, and OpenSSL remembers them. */
Test(shared, by_no_client_with_the_systems_authorities)
{
	const struct dlki_tls_options system = { .verify = DLKI_TLS_FULL };

	cr_assert_not(share(&system, &system));
}

Test(shared, until_the_file_has_other_authorities)
{
	char path[300];
	const struct dlki_tls_options o = { .ca = path };

	snprintf(path, sizeof(path), "%s", certs_path("mine.pem"));
	copy("ca.pem", "mine.pem");
	client_open(&o, NULL);
	cr_assert_eq(client_meets("localhost"), 0, "%s", client.err.text);
	client_close();
	copy("other.pem", "mine.pem");
	client_open(&o, NULL);
	cr_assert_eq(client_meets("localhost"), DLOCK_EDENIED);
	client_close();
	copy("ca.pem", "mine.pem");
	client_open(&o, NULL);
	cr_assert_eq(client_meets("localhost"), 0, "%s", client.err.text);
}

/* Nor the other way round. */
Test(shared, by_no_client_that_verifies_with_others)
{
	const struct dlki_tls_options off = { .verify = DLKI_TLS_OFF };
	char path[300];
	const struct dlki_tls_options full = { .ca = path };

	snprintf(path, sizeof(path), "%s", certs_path("other.pem"));
	for (int i = 0; i < 2; i++) {
		client_open(&off, NULL);
		cr_assert_eq(client_meets("localhost"), 0, "%s",
			     client.err.text);
		client_close();
		client_open(&full, NULL);
		cr_assert_eq(client_meets("localhost"), DLOCK_EDENIED);
		client_close();
	}
}
