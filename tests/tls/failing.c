/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of OpenSSL and each allocation fails once: the failure is told, and
 * the next try succeeds. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/fault.h"
#include "tests/tls/client.h"

TestSuite(failing, .init = certs_begin, .fini = client_end);

static void told(int code, int want, const char *text, const char *call)
{
	cr_assert(fault_came(), "%s was not called", call);
	cr_assert_eq(code, want, "%s: %d", call, code);
	cr_assert(strstr(client.err.text, text), "%s: %s", call,
		  client.err.text);
}

static int opens(const struct dlki_tls_options *o)
{
	client.context = dlki_tls_context_new(o, &client.err);
	return client.context ? 0 : client.err.code;
}

/* ---- A context ----------------------------------------------------------- */

Test(failing, a_context_is_not_made)
{
	static const struct {
		const char *call;
		int n, code;
		const char *text;
	} cases[] = {
		{ "calloc", 1, DLOCK_ENOMEM, "out of memory" },
		{ "strdup", 1, DLOCK_ENOMEM, "out of memory" }, /* name */
		{ "strdup", 2, DLOCK_ENOMEM, "out of memory" }, /* ca */
		{ "OPENSSL_init_ssl", 1, DLOCK_ESYSTEM, "OpenSSL: unknown" },
		{ "SSL_CTX_new", 1, DLOCK_ESYSTEM, "OpenSSL: " },
		{ "malloc", 1, DLOCK_ENOMEM, "tls_ca" },
		{ "BIO_new_mem_buf", 1, DLOCK_ENOMEM, "out of memory" },
		{ "PEM_read_bio_X509_AUX", 1, DLOCK_ENOMEM, "out of memory" },
		{ "PEM_read_bio_X509_AUX", 2, DLOCK_ENOMEM, "out of memory" },
		{ "X509_STORE_add_cert", 1, DLOCK_EINVAL, "cannot be used" },
		{ "BIO_new_mem_buf", 2, DLOCK_ENOMEM, "out of memory" },
		{ "malloc", 3, DLOCK_ENOMEM, "tls_key" },
		{ "BIO_new_mem_buf", 3, DLOCK_ENOMEM, "out of memory" },
		{ "PEM_read_bio_PrivateKey", 1, DLOCK_ENOMEM, "out of memory" },
	};
	const struct dlki_tls_options o = { .name = "localhost",
					    .ca = certs_path("ca.pem"),
					    .cert = certs_path("client.pem"),
					    .key = certs_path("client.key") };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fault_in(cases[i].call, cases[i].n, 0);
		told(opens(&o), cases[i].code, cases[i].text, cases[i].call);
		cr_assert_eq(opens(&o), 0, "%s", client.err.text);
		dlki_tls_context_free(client.context);
	}
	client.context = NULL;
	fault_in("SSL_CTX_set_default_verify_paths", 1, 0);
	told(opens(&(struct dlki_tls_options){ 0 }), DLOCK_ESYSTEM,
	     "TLS: the system's authorities", "default paths");
}

/* A file may have the chain of the certificate, which takes memory, too. */
Test(failing, a_chain_is_presented)
{
	char text[16384] = "";
	const char *parts[] = { certs_path("client.pem"),
				certs_path("ca.pem") };
	struct dlki_tls_options o = { .ca = certs_path("ca.pem"),
				      .key = certs_path("client.key") };

	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(parts[i], "r");
		size_t n = strlen(text);

		text[n + fread(text + n, 1, 8000, f)] = '\0';
		fclose(f);
	}
	o.cert = certs_file("chain.pem", text, 0600);
	client_open(&o, &(struct peer_options){ .client_ca = "ca" });
	cr_assert_eq(client_meets("localhost"), 0, "%s", client.err.text);
	cr_assert_eq(sk_X509_num(SSL_get_peer_cert_chain(client.peer.ssl)), 1,
		     "the authority");
}

/* ---- A session ----------------------------------------------------------- */

/* Meet, and let the means to resume come. */
static void meet(void)
{
	cr_assert_eq(client_meets("localhost"), 0, "%s", client.err.text);
	peer_says("+", 1);
	cr_assert_eq(client_exchange(), 0, "%s", client.err.text);
}

Test(failing, a_session_does_not_begin)
{
	static const struct {
		const char *call;
		int n;
		const char *text;
	} cases[] = {
		{ "calloc", 1, "out of memory" },
		{ "SSL_new", 1, "TLS cannot begin: " },
		{ "BIO_new", 1, "TLS cannot begin: " },
		{ "BIO_new", 2, "TLS cannot begin: " },
		{ "SSL_set_ex_data", 1, "TLS cannot begin: " },
		{ "SSL_set_session", 1, "TLS cannot begin: " },
		{ "SSL_ctrl", 1, "TLS cannot begin: " }, /* the name */
	};

	client_open(NULL, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		meet();
		client_leaves();
		fault_in(cases[i].call, cases[i].n, 0);
		told(client_meets("localhost"), DLOCK_ENOMEM, cases[i].text,
		     cases[i].call);
	}
	meet();
}

/* A failed session stays failed, with the first reason. */
static void stays_failed(int code)
{
	const struct dlki_tls_type *type = client.t->type;
	struct dlk_error first = client.err;
	char plain[8];

	cr_assert_eq(type->read(client.t, plain, 8, &client.err), code);
	cr_assert_str_eq(client.err.text, first.text);
	cr_assert_eq(type->write(client.t, "x", 1, &client.err), code);
	cr_assert_eq(type->feed(client.t, "x", 1, &client.err), code);
	cr_assert_str_eq(client.err.text, first.text);
	client_leaves();
}

Test(failing, a_session_ends)
{
	const struct dlki_tls_type *type;
	char cipher[4096], plain[8];
	size_t n;

	client_open(NULL, NULL);
	meet();
	type = client.t->type;
	fault_in("BIO_write", 1, 0);
	told(client_hears("x", 1), DLOCK_ENOMEM, "out of memory", "feed");
	stays_failed(DLOCK_ENOMEM);
	meet();
	fault_in("SSL_write_ex", 1, 0);
	told(type->write(client.t, "x", 1, &client.err), DLOCK_EUNREACHABLE,
	     "makes no sense: unknown", "write");
	stays_failed(DLOCK_EUNREACHABLE);
	meet();
	cr_assert_eq(SSL_key_update(client.peer.ssl, SSL_KEY_UPDATE_REQUESTED),
		     1);
	peer_says("+", 1);
	n = peer_take(cipher, sizeof(cipher));
	cr_assert_eq(client_hears(cipher, n), 0);
	cr_assert_eq(type->read(client.t, plain, 8, &client.err), 1);
	fault_in("SSL_key_update", 1, 0);
	told((int)type->read(client.t, plain, 8, &client.err),
	     DLOCK_EUNREACHABLE, "makes no sense: ", "new keys");
	stays_failed(DLOCK_EUNREACHABLE);
}

/* Without memory the ciphertext stays where it is. */
Test(failing, ciphertext_waits_for_memory)
{
	struct dlki_bytes out = { 0 };
	size_t n;

	client_open(NULL, NULL);
	meet();
	client_says("ping");
	n = client.t->type->pending(client.t);
	fault_in("malloc", 1, 0);
	told(client.t->type->take(client.t, &out, &client.err), DLOCK_ENOMEM,
	     "out of memory", "take");
	cr_assert_eq(client.t->type->pending(client.t), n);
	cr_assert_eq(client_exchange(), 0, "%s", client.err.text);
	cr_assert_str_eq(client.peer.said, "ping");
	dlki_bytes_free(&out);
}

/* ---- The server's alerts ------------------------------------------------- */

static void alerted(int with_cert, int alert, int code, const char *text)
{
	const unsigned char record[] = { SSL3_RT_ALERT,       3, 3, 0, 2, 2,
					 (unsigned char)alert };
	const struct dlki_tls_options o = {
		.cert = with_cert ? certs_path("client.pem") : NULL,
		.key = with_cert ? certs_path("client.key") : NULL
	};

	client_open(&o, NULL);
	client_begins();
	cr_assert_eq(client_hears(record, sizeof(record)), code, "alert %d: %s",
		     alert, client.err.text);
	cr_assert(strstr(client.err.text, text), "alert %d: %s", alert,
		  client.err.text);
	client_close();
}

Test(failing, an_alert_names_the_culprit_and_the_remedy)
{
	static const unsigned char about_cert[] = {
		SSL_AD_BAD_CERTIFICATE,     SSL_AD_UNSUPPORTED_CERTIFICATE,
		SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
		SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
		SSL_AD_ACCESS_DENIED,       SSL_AD_CERTIFICATE_REQUIRED
	};

	for (size_t i = 0; i < sizeof(about_cert); i++) {
		alerted(1, about_cert[i], DLOCK_EDENIED,
			"refused the client's certificate: ");
		alerted(0, about_cert[i], DLOCK_EDENIED,
			"the server wants a client's certificate (");
	}
	alerted(0, SSL_AD_UNRECOGNIZED_NAME, DLOCK_EDENIED,
		"does not know the name 'localhost'; tls_name= says another");
	alerted(0, SSL_AD_HANDSHAKE_FAILURE, DLOCK_EDENIED,
		"may want a client's certificate, which tls_cert=");
	alerted(1, SSL_AD_HANDSHAKE_FAILURE, DLOCK_EDENIED,
		"the server refused the TLS handshake");
	alerted(0, SSL_AD_PROTOCOL_VERSION, DLOCK_EPROTO,
		"neither TLS 1.2 nor 1.3");
	alerted(0, SSL_AD_INTERNAL_ERROR, DLOCK_EPROTO,
		"ended TLS with an alert: internal error");
}
