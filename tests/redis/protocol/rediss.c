/* SPDX-License-Identifier: Apache-2.0 */
/* rediss: by the public interface: messages, and how soon they come. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "support/wait.h"
#include "tests/redis/protocol/tls_server.h"
#include "tests/tls/certs.h"

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
	server = tls_server_start(cert, more, &tls_port);
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

/* With a lock taken and released. */
static void works(const char *text)
{
	dlock_client *client;
	dlock_lock *lock;
	dlock_hold *hold;

	cr_assert_eq(dlock_open(&client, text, NULL), 0, "%s", dlock_errmsg());
	cr_assert_eq(dlock_mutex_new(&lock, client, "n"), 0);
	cr_assert_eq(dlock_acquire(lock, patience_ms(), &hold), 0, "%s",
		     dlock_errmsg());
	cr_assert_gt(dlock_token(hold), 0);
	cr_assert_eq(dlock_release(hold), 0);
	dlock_lock_free(lock);
	dlock_close(client);
}

/* The message names the server, and has this part. */
static void refused(const char *text, int code, const char *part)
{
	dlock_client *client;
	char peer[40];

	snprintf(peer, sizeof(peer), "127.0.0.1:%d", tls_port);
	cr_assert_eq(dlock_open(&client, text, NULL), code, "%s",
		     dlock_errmsg());
	cr_assert_not_null(strstr(dlock_errmsg(), part), "%s", dlock_errmsg());
	if (code != DLOCK_EINVAL)
		cr_assert_not_null(strstr(dlock_errmsg(), peer), "%s",
				   dlock_errmsg());
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
		works(with_cert("client"));
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

static atomic_int warnings;

static void on_line(const struct dlock_log_line *line, void *arg)
{
	(void)arg;
	if (line->level == 1 && strstr(line->text, "tls_verify=off"))
		warnings++;
}

Test(rediss, tls_without_verification_is_warned_of)
{
	const struct dlock_options options = { .size = sizeof(options),
					       .on_log = on_line };
	dlock_client *client;
	char text[100];

	serve("server", "tls-auth-clients no\n");
	cr_assert_eq(dlock_open(&client, uri("127.0.0.1", ""), &options), 0);
	dlock_close(client);
	cr_assert_eq(warnings, 0);
	snprintf(text, sizeof(text), "rediss://127.0.0.1:%d/?tls_verify=off",
		 tls_port);
	cr_assert_eq(dlock_open(&client, text, &options), 0, "%s",
		     dlock_errmsg());
	dlock_close(client);
	cr_assert_eq(warnings, 1);
}
