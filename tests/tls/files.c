/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a context, and URIs with their names. */
#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/net/tls_uri.h"
#include "core/uri/uri.h"
#include "tests/tls/client.h"

TestSuite(files, .init = certs_begin, .fini = certs_end);

static const struct dlk_param params[] = { DLKI_TLS_PARAMS, { 0 } };

static struct dlk_error err;
static const char *warning;

/* Open a URI with the query. */
static struct dlki_tls_context *open_uri(const char *query)
{
	struct dlki_tls_context *c = NULL;
	struct dlk_uri *uri;
	char text[2000];
	int rc;

	snprintf(text, sizeof(text), "rediss://localhost/?%s", query);
	cr_assert_eq(dlki_uri_parse(&uri, text, params, NULL, &err), 0, "%s",
		     err.text);
	rc = dlki_tls_open(&c, &warning, uri, &err);
	cr_assert_eq(rc == 0, c != NULL);
	cr_assert(c || rc == err.code);
	dlki_uri_free(uri);
	return c;
}

static void taken(const char *query)
{
	struct dlki_tls_context *c = open_uri(query);

	cr_assert_not_null(c, "%s", err.text);
	dlki_tls_context_free(c);
}

static void refused(const char *query, const char *text)
{
	struct dlki_tls_context *c = open_uri(query);

	cr_assert_null(c, "%s", query);
	cr_assert_eq(err.code, DLOCK_EINVAL);
	cr_assert_not_null(strstr(err.text, text), "%s", err.text);
}

static void refused_file(const char *param, const char *path, const char *why)
{
	char query[1500], text[300];

	if (strcmp(param, "tls_key") == 0)
		snprintf(query, sizeof(query), "tls_cert=%s&tls_key=%s",
			 certs_path("client.pem"), path);
	else if (strcmp(param, "tls_cert") == 0)
		snprintf(query, sizeof(query), "tls_cert=%s&tls_key=%s", path,
			 certs_path("client.key"));
	else
		snprintf(query, sizeof(query), "tls_ca=%s", path);
	snprintf(text, sizeof(text), "%s '%.140s' %s", param, path, why);
	refused(query, text);
}

Test(files, a_uri_names_them)
{
	char query[1500];

	taken("");
	cr_assert_null(warning);
	snprintf(query, sizeof(query), "tls_ca=%s&tls_cert=%s&tls_key=%s",
		 certs_path("ca.pem"), certs_path("client.pem"),
		 certs_path("client.key"));
	taken(query);
	cr_assert_null(warning);
	taken("tls_verify=ca");
	cr_assert_null(warning);
	taken("tls_verify=off&tls_name=a.example");
	cr_assert_not_null(strstr(warning, "tls_verify=off"));
}

Test(files, a_uri_may_not_contradict_itself)
{
	refused("tls_cert=x", "tls_cert= needs tls_key=");
	refused("tls_key=x", "tls_key= needs tls_cert=");
	refused("tls_ca=x&tls_verify=off", "tls_ca= is of no use with");
}

Test(files, a_file_must_be_there)
{
	refused_file("tls_ca", "/nowhere/ca", "cannot be read: No such file");
	refused_file("tls_cert", "/nowhere/c", "cannot be read: No such file");
	refused_file("tls_key", "/nowhere/k", "cannot be read: No such file");
	refused_file("tls_ca", "/tmp", "is not a regular file");
}

Test(files, a_key_is_for_its_owner_alone)
{
	const char *why = "may be used by others; chmod it to 600";
	const char *key = certs_path("client.key");

	cr_assert_eq(chmod(key, 0640), 0);
	refused_file("tls_key", key, why);
	cr_assert_eq(chmod(key, 0400), 0);
	cr_assert_eq(symlink(key, certs_path("link")), 0);
	refused_file("tls_key", certs_path("link"), "is a symbolic link");
}

Test(files, a_file_must_have_what_it_is_for)
{
	refused_file("tls_ca", certs_file("empty", "", 0600),
		     "has no certificate in PEM format");
	refused_file("tls_ca", certs_path("ca.key"),
		     "has no certificate in PEM format");
	refused_file("tls_cert", certs_path("ca.key"),
		     "has no certificate in PEM format");
	refused_file("tls_key", certs_path("ca.pem"),
		     "has no private key in PEM format");
	refused_file("tls_ca",
		     certs_file("broken",
				"-----BEGIN CERTIFICATE-----\nAAAA\n"
				"-----END CERTIFICATE-----\n",
				0600),
		     "has no certificate in PEM format");
	refused_file("tls_key", certs_path("server.key"),
		     "does not belong to the certificate in tls_cert");
}

/* Two certificates, the second of which is cut. */
Test(files, no_part_of_a_file_is_overlooked)
{
	char text[8192];
	size_t n;
	FILE *f;

	f = fopen(certs_path("ca.pem"), "r");
	n = fread(text, 1, 4000, f);
	fclose(f);
	memcpy(text + n, text, n);
	text[2 * n] = '\0';
	certs_file("two", text, 0600);
	memset(text + n + 100, '!', 10);
	refused_file("tls_ca", certs_file("cut", text, 0600),
		     "has a certificate that makes no sense");
	snprintf(text, sizeof(text), "tls_ca=%s", certs_path("two"));
	taken(text);
}

/* Write the key to a file, and free the key. */
static void write_key(EVP_PKEY *key, const char *name, const EVP_CIPHER *cipher)
{
	FILE *f = fopen(certs_path(name), "w");

	cr_assert_eq(fchmod(fileno(f), 0600), 0);
	PEM_write_PrivateKey(f, key, cipher, (const unsigned char *)"secret", 6,
			     NULL, NULL);
	fclose(f);
	EVP_PKEY_free(key);
}

/* Without asking for the passphrase on a terminal. */
Test(files, a_key_with_a_passphrase_is_refused)
{
	write_key(EVP_EC_gen("P-256"), "locked", EVP_aes_128_cbc());
	refused_file("tls_key", certs_path("locked"), "needs a passphrase");
	cr_assert_null(strstr(err.text, "secret"));
}

Test(files, a_key_of_another_kind_does_not_belong)
{
	write_key(EVP_RSA_gen(2048), "rsa", NULL);
	refused_file("tls_key", certs_path("rsa"), "does not belong");
}

Test(files, no_error_stays_in_the_queue)
{
	ERR_raise(ERR_LIB_USER, 77);
	taken("");
	refused_file("tls_ca", certs_path("ca.key"), "has no certificate");
	cr_assert_eq(ERR_get_error(), 0);
}
