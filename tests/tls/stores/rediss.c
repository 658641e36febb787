/* SPDX-License-Identifier: Apache-2.0 */
/* rediss: by the public interface: messages, and how soon they come. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "support/diary.h"
#include "support/opening.h"
#include "support/wait.h"
#include "tests/tls/certs.h"
#include "tests/tls/stores/servers.h"

static struct lab_server *server;
static int tls_port;

static void end(void)
{
	lab_server_free(server);
	certs_end();
}

TestSuite(rediss, .init = certs_begin, .fini = end);

static void serve(const char *cert, const char *more)
{
	server = tls_redis_start(cert, more, &tls_port);
	cr_assert_not_null(server, "%s", lab_errmsg());
}

static const char *uri_within(int64_t connect_s, const char *host,
			      const char *more)
{
	static char text[2000];

	snprintf(text, sizeof(text),
		 "rediss://%s:%d/?connect=%llds&tls_ca=%s%s", host, tls_port,
		 (long long)connect_s, certs_path("ca.pem"), more);
	return text;
}

static const char *uri(const char *host, const char *more)
{
	return uri_within(slowness(), host, more);
}

/* The message names the server, and has this part. */
static void refused(const char *text, int code, const char *part)
{
	char peer[40];

	snprintf(peer, sizeof(peer), "127.0.0.1:%d", tls_port);
	opening_fails(text, code, part);
	if (code != DLOCK_EINVAL)
		CHECK_TEXT(dlock_errmsg(), peer);
}

Test(rediss, a_server_that_is_not_believed_is_named_at_once)
{
	int64_t begun;

	serve("server", "tls-auth-clients no\n");
	begun = now_ms();
	refused(uri("127.0.0.1", "&tls_name=a.example"), DLOCK_EDENIED,
		"the certificate is for 'localhost', 127.0.0.1, ::1, not "
		"'a.example'");
	cr_assert_lt(now_ms() - begun, 1000 * slowness(),
		     "no reason to try for the whole time");
	certs_make(&(struct cert_spec){ .name = "ca", .is_authority = 1 });
	refused(uri("127.0.0.1", ""), DLOCK_EDENIED, "certificate");
}

static const char *with_cert(const char *name)
{
	static char more[1000];
	char pem[80], key[80];

	snprintf(pem, sizeof(pem), "%s.pem", name);
	snprintf(key, sizeof(key), "%s.key", name);
	snprintf(more, sizeof(more), "&tls_cert=%s&tls_key=%s", certs_path(pem),
		 certs_path(key));
	return uri("127.0.0.1", more);
}

/* A server of TLS 1.3 judges the certificate behind the handshake. */
Test(rediss, a_server_that_wants_a_certificate_is_named)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };
	char more[100];

	certs_make(
		&(struct cert_spec){ .name = "stranger", .signer = "other" });
	for (int i = 0; i < 2; i++) {
		snprintf(more, sizeof(more),
			 "tls-auth-clients yes\ntls-protocols %s\n",
			 versions[i]);
		serve("server", more);
		refused(uri("127.0.0.1", ""), DLOCK_EDENIED,
			"a client's certificate");
		refused(with_cert("stranger"), DLOCK_EDENIED,
			"the server refused the client's certificate: ");
		opening_works(with_cert("client"), NULL);
		lab_server_free(server);
		server = NULL;
	}
}

Test(rediss, a_port_without_tls_is_named)
{
	serve("server", "tls-auth-clients no\n");
	tls_port = server->port;
	/* Redis waits for the rest of a line: connect= ends in full. */
	refused(uri_within(3, "127.0.0.1", ""), DLOCK_EUNREACHABLE,
		"port for TLS?");
}

/* ---- The log ------------------------------------------------------------- */

Test(rediss, tls_without_verification_is_warned_of)
{
	struct diary d = DIARY_INIT;
	const dlock_options options = diary_options(&d);
	char text[100];

	serve("server", "tls-auth-clients no\n");
	opening_works(uri("127.0.0.1", ""), &options);
	CHECK(!diary_says(&d, "tls_verify=off"));
	snprintf(text, sizeof(text), "rediss://127.0.0.1:%d/?tls_verify=off",
		 tls_port);
	opening_works(text, &options);
	CHECK_INT(diary_times(&d, "tls_verify=off"), ==, 1);
}
