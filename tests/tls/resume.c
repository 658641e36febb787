/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions resumed. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/tls/client.h"

TestSuite(resume, .init = certs_begin, .fini = client_end);

/* Meet, and let the means to resume come; was an earlier session resumed? */
static int meet(const char *host)
{
	int reused;

	cr_assert_eq(client_meets(host), 0, "%s", client.err.text);
	peer_says("+", 1);
	cr_assert_eq(client_exchange(), 0);
	reused = SSL_session_reused(client.peer.ssl);
	client_leaves();
	return reused;
}

Test(resume, the_server_knows_the_client_again)
{
	static const struct peer_options peers[] = {
		{ .version = TLS1_2_VERSION },
		{ .version = 0 },
	};

	for (int version = 0; version < 2; version++) {
		client_open(NULL, &peers[version]);
		cr_assert(!meet("localhost"));
		for (int i = 0; i < 4; i++)
			cr_assert(meet("localhost"));
		if (version == 0)
			client_close();
	}
}

/* A resumed session does not verify the certificate again. */
Test(resume, not_under_another_name)
{
	client_open(NULL, NULL);
	cr_assert(!meet("localhost"));
	cr_assert(!meet("127.0.0.1"));
	cr_assert_eq(client_meets("a.example"), DLOCK_EDENIED);
	client_leaves();
	cr_assert(meet("127.0.0.1"));
	cr_assert(meet("localhost"));
}

Test(resume, not_by_another_client)
{
	struct dlki_tls_context *first;

	client_open(NULL, NULL);
	cr_assert(!meet("localhost"));
	first = client.context;
	client.context = dlki_tls_context_new(
		&(struct dlki_tls_options){ .ca = certs_path("ca.pem") },
		&client.err);
	cr_assert(!meet("localhost"));
	dlki_tls_context_free(first);
}

Test(resume, a_session_that_failed_is_forgotten)
{
	client_open(NULL, NULL);
	cr_assert(!meet("localhost"));
	client_begins();
	cr_assert_eq(client_hears("-", 1), DLOCK_EPROTO);
	client_leaves();
	cr_assert(!meet("localhost"));
	/* Perhaps the server cannot resume, and closed the connection without a
	 * word. */
	client_begins();
	cr_assert_not_null(client.t);
	client_leaves();
	cr_assert(!meet("localhost"));
}

/* Lost, and closed by the server: both may be resumed.  Spoilt: not. */
Test(resume, a_session_that_was_spoilt_is_forgotten)
{
	client_open(NULL, NULL);
	cr_assert(!meet("localhost"));
	cr_assert_eq(client_meets("localhost"), 0);
	SSL_shutdown(client.peer.ssl);
	cr_assert_eq(client_exchange(), DLOCK_EUNREACHABLE);
	client_leaves();
	cr_assert(meet("localhost"));
	cr_assert_eq(client_meets("localhost"), 0);
	cr_assert_eq(client_hears("nonsense", 8), 0);
	cr_assert_eq(client_exchange(), DLOCK_EUNREACHABLE);
	client_leaves();
	cr_assert(!meet("localhost"));
}

static int meet_at_port(int port)
{
	char peer[30];
	int reused;

	snprintf(peer, sizeof(peer), "127.0.0.1:%d", port);
	client.t = client.context->type->begin(client.context, "localhost",
					       peer, &client.err);
	cr_assert_eq(client_exchange(), 0);
	reused = SSL_session_reused(client.peer.ssl);
	client_leaves();
	return reused;
}

Test(resume, the_latest_servers_are_remembered)
{
	client_open(NULL, NULL);
	for (int i = 0; i < 12; i++)
		cr_assert(!meet_at_port(i));
	for (int i = 11; i >= 0; i--) {
		int resumed = meet_at_port(i);

		cr_assert(resumed || i < 4);
	}
}
