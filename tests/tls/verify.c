/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of both sides: believed or refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/tls/client.h"

TestSuite(verify, .init = certs_begin, .fini = client_end);

/* The reason names the culprit: `text` is a part of it. */
static void refused(const char *host, int code, const char *text)
{
	cr_assert_eq(client_meets(host), code, "%s", client.err.text);
	cr_assert_not_null(strstr(client.err.text, text), "%s",
			   client.err.text);
	client_leaves();
}

static void accepted(const char *host)
{
	cr_assert_eq(client_meets(host), 0, "%s", client.err.text);
	cr_assert(client.t->up);
	client_leaves();
}

/* A server with a certificate for these names, by `signer`. */
static void serve(const char *signer, const char *san, int from, int to,
		  const struct dlki_tls_options *o)
{
	const struct peer_options peer = { .cert = "mine" };

	certs_make(&(struct cert_spec){ .name = "mine",
					.signer = signer,
					.san = san,
					.from_days = from,
					.to_days = to });
	client_open(o, &peer);
}

/* ---- Names --------------------------------------------------------------- */

Test(verify, the_name_is_one_of_the_certificates)
{
	client_open(NULL, NULL);
	accepted("localhost");
	accepted("LOCALHOST");
	accepted("localhost.");
	accepted("127.0.0.1");
	accepted("::1");
	refused("a.example", DLOCK_EDENIED,
		"the certificate is for 'localhost', 127.0.0.1, ::1, not "
		"'a.example'; tls_name= says another name");
	refused("127.0.0.2", DLOCK_EDENIED, "not '127.0.0.2'");
	refused("::2", DLOCK_EDENIED, "not '::2'");
}

Test(verify, a_wildcard_is_for_one_label)
{
	serve("ca", "DNS:*.a.example,DNS:b*.example", 0, 0, NULL);
	accepted("x.a.example");
	refused("a.example", DLOCK_EDENIED, "'*.a.example'");
	refused("y.x.a.example", DLOCK_EDENIED, "'*.a.example'");
	refused("bc.example", DLOCK_EDENIED, "'b*.example'");
}

Test(verify, a_common_name_is_no_name)
{
	serve("ca", NULL, 0, 0, NULL);
	refused("mine", DLOCK_EDENIED,
		"the certificate has no subjectAltName, so it is not for "
		"'mine'; tls_verify=ca checks the chain alone");
}

Test(verify, many_names_are_counted)
{
	serve("ca", "DNS:a,DNS:b,DNS:c,DNS:d,email:x@example,DNS:e", 0, 0,
	      NULL);
	refused("x", DLOCK_EDENIED,
		"the certificate is for 'a', 'b', 'c' and 2 more, not 'x'");
}

Test(verify, a_name_of_another_kind_is_not_shown)
{
	serve("ca", "URI:https://a.example,DNS:b,IP:10.0.0.1", 0, 0, NULL);
	refused("x", DLOCK_EDENIED,
		"the certificate is for 'b', 10.0.0.1, not 'x'");
	client_close();
	serve("ca", "email:x@example", 0, 0, NULL);
	refused("x", DLOCK_EDENIED, "the certificate has no subjectAltName");
}

Test(verify, long_names_leave_room_for_the_cure)
{
	char san[1000] = "DNS:", name[250];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 60; i < sizeof(name) - 1; i += 60)
		name[i] = '.';
	strcat(san, name);
	strcat(san, ",DNS:");
	strcat(san, name);
	serve("ca", san, 0, 0, NULL);
	accepted(name);
	name[0] = 'm';
	refused(name, DLOCK_EDENIED, "; tls_name= says another name");
}

Test(verify, tls_name_is_looked_for_instead)
{
	client_open(&(struct dlki_tls_options){ .name = "localhost" }, NULL);
	accepted("a.example");
	accepted(NULL);
	client_close();
	client_open(&(struct dlki_tls_options){ .name = "b.example" }, NULL);
	refused("localhost", DLOCK_EDENIED, "not 'b.example'");
}

Test(verify, without_a_name_there_is_no_session)
{
	char name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	client_open(NULL, NULL);
	cr_assert_eq(client_meets(NULL), DLOCK_EINVAL);
	cr_assert_not_null(strstr(client.err.text, "tls_name= says it"));
	cr_assert_eq(client_meets("."), DLOCK_EINVAL);
	cr_assert_eq(client_meets(name), DLOCK_EINVAL);
	cr_assert_not_null(strstr(client.err.text, "longer than 255 bytes"));
}

/* ---- The chain ----------------------------------------------------------- */

Test(verify, an_authority_must_be_known)
{
	serve("other", "DNS:localhost", 0, 0, NULL);
	refused("localhost", DLOCK_EDENIED,
		"the certificate is signed by 'other', which is not in tls_ca "
		"'");
	client_close();
	serve(NULL, "DNS:localhost", 0, 0, NULL);
	refused("localhost", DLOCK_EDENIED, "signed by 'mine'");
}

Test(verify, an_authority_of_the_system_is_asked_for_by_default)
{
	struct dlki_tls_options system = { 0 };

	client_open(NULL, NULL);
	dlki_tls_context_free(client.context);
	client.context = dlki_tls_context_new(&system, &client.err);
	cr_assert_not_null(client.context, "%s", client.err.text);
	refused("localhost", DLOCK_EDENIED,
		"the certificate is signed by 'ca', which this system does not "
		"know; tls_ca= names the file of another authority");
}

Test(verify, a_certificate_has_its_days)
{
	serve("ca", "DNS:localhost", -20, -10, NULL);
	refused("localhost", DLOCK_EDENIED, "the certificate expired on 20");
	refused("localhost", DLOCK_EDENIED, "the server needs a new one");
	client_close();
	serve("ca", "DNS:localhost", 10, 20, NULL);
	refused("localhost", DLOCK_EDENIED,
		"the certificate is not valid before 20");
}

Test(verify, an_authority_has_its_days)
{
	certs_make(&(struct cert_spec){ .name = "old",
					.signer = "ca",
					.is_authority = 1,
					.from_days = -20,
					.to_days = -10 });
	serve("old", "DNS:localhost", 0, 0,
	      &(struct dlki_tls_options){ .ca = certs_path("old.pem") });
	refused("localhost", DLOCK_EDENIED, "certificate");
}

Test(verify, an_authority_that_expired_is_told_from_a_server_that_did)
{
	certs_make(&(struct cert_spec){ .name = "old",
					.is_authority = 1,
					.from_days = -20,
					.to_days = -10 });
	serve("old", "DNS:localhost", 0, 0,
	      &(struct dlki_tls_options){ .ca = certs_path("old.pem") });
	refused("localhost", DLOCK_EDENIED,
		"the certificate of an authority expired on 20");
}

Test(verify, a_client_is_no_authority)
{
	serve("client", "DNS:localhost", 0, 0,
	      &(struct dlki_tls_options){ .ca = certs_path("client.pem") });
	refused("localhost", DLOCK_EDENIED, "certificate");
}

/* ---- tls_verify= --------------------------------------------------------- */

Test(verify, ca_is_content_with_the_chain)
{
	const struct dlki_tls_options ca = { .verify = DLKI_TLS_CA };

	client_open(&ca, NULL);
	accepted("a.example");
	accepted("10.0.0.1");
	accepted(NULL);
	client_close();
	serve("other", "DNS:localhost", 0, 0, &ca);
	refused("localhost", DLOCK_EDENIED, "signed by 'other'");
	client_close();
	serve("ca", "DNS:localhost", -20, -10, &ca);
	refused("localhost", DLOCK_EDENIED, "expired");
}

Test(verify, off_believes_whoever_answers)
{
	const struct dlki_tls_options off = { .verify = DLKI_TLS_OFF };

	serve(NULL, NULL, -20, -10, &off);
	accepted("localhost");
	accepted(NULL);
	refused("localhost", 0, "");
}

/* ---- The client's certificate -------------------------------------------- */

/* A server of either version asks for a certificate by `ca`, and refuses with
 * these texts, or not at all. */
static void ask(const char *ca, int with_cert, const char *text,
		const char *other)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	const struct dlki_tls_options o = { .cert = certs_path("client.pem"),
					    .key = certs_path("client.key") };

	for (int i = 0; i < 2; i++) {
		const struct peer_options p = { .version = versions[i],
						.client_ca = ca };

		client_open(with_cert ? &o : NULL, &p);
		if (text) {
			refused("localhost", DLOCK_EDENIED, text);
			refused("localhost", DLOCK_EDENIED, other);
		} else {
			cr_assert_eq(client_meets("localhost"), 0, "%s",
				     client.err.text);
			cr_assert_not_null(
				SSL_get0_peer_certificate(client.peer.ssl));
		}
		client_close();
	}
}

Test(verify, a_server_may_want_a_certificate_that_it_knows)
{
	ask("ca", 1, NULL, NULL);
	ask("ca", 0, "a client's certificate", "tls_cert=");
	ask("other", 1, "the server refused the client's certificate: ", "");
}
