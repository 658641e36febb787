/* SPDX-License-Identifier: Apache-2.0 */
/* The Redis protocol of the engine over TLS, with a real server. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "core/base/clock.h"
#include "core/loop/drive.h"
#include "core/loop/state.h"
#include "core/name.h"
#include "core/net/address.h"
#include "core/net/tls_openssl.h"
#include "core/net/tls_uri.h"
#include "core/uri/uri.h"
#include "core/world/real.h"
#include "lab/base/fail.h"
#include "support/wait.h"
#include "tests/redis/protocol/tls_server.h"
#include "tests/tls/certs.h"

extern const struct dlock_backend dlki_redis_backend;

/* The backend's parameters, and TLS. */
static const struct dlk_param *params(void)
{
	static const struct dlk_param tls[] = { DLKI_TLS_PARAMS, { 0 } };
	static struct dlk_param all[64];
	size_t n = 0;

	while (dlki_redis_backend.params[n].name) {
		all[n] = dlki_redis_backend.params[n];
		n++;
	}
	cr_assert_lt(n + 6, 64);
	memcpy(all + n, tls, sizeof(tls));
	return all;
}

static struct {
	struct lab_server *server;
	int tls_port;
	struct dlki_engine *engine;
	struct dlki_world *world;
	struct dlk_uri *uri;
	struct dlki_tls_context *tls;
	int64_t connect_ms; /* 0: no connection takes as long */
} s;

/* ---- The server ---------------------------------------------------------- */

static void serve(const char *cert, const char *more)
{
	s.server = tls_server_start(cert, more, &s.tls_port);
	cr_assert_not_null(s.server, "%s", lab_errmsg());
}

/* ---- The client ---------------------------------------------------------- */

static void open_client(const char *host, int port, const char *query)
{
	struct dlki_address address;
	struct dlki_engine_options options = {
		.protocol = &dlki_redis_protocol,
		.label = "a test",
		.addresses = &address,
		.n_addresses = 1,
		.connect_ms = s.connect_ms ? s.connect_ms : patience_ms(),
		.patience_ms = patience_ms(),
	};
	struct dlk_error err = { 0 };
	const char *warning;
	char text[3000];

	snprintf(text, sizeof(text), "rediss://%s:%d/?ttl=%" PRIi64 "s%s%s",
		 host, port, 60 * slowness(), *query ? "&" : "", query);
	cr_assert_eq(dlki_uri_parse(&s.uri, text, params(), NULL, &err), 0,
		     "%s", err.text);
	cr_assert_eq(dlki_tls_open(&s.tls, &warning, s.uri, &err), 0, "%s",
		     err.text);
	cr_assert_eq(dlki_address_tcp(&address, "127.0.0.1", (uint16_t)port),
		     0);
	s.world = dlki_real_new(&err);
	options.world = s.world;
	options.uri = s.uri;
	options.tls = s.tls;
	s.engine = dlki_engine_new(&options, &err);
	cr_assert_not_null(s.engine, "%s", err.text);
	cr_assert_eq(dlki_drive_begin(s.engine, DLKI_ALL_SETS, &err), 0);
}

static const char *with_ca(const char *more)
{
	static char query[3000];

	snprintf(query, sizeof(query), "tls_ca=%s%s", certs_path("ca.pem"),
		 more);
	return query;
}

static const char *with_cert(const char *cert)
{
	char more[2000], pem[80], key[80];

	snprintf(pem, sizeof(pem), "%s.pem", cert);
	snprintf(key, sizeof(key), "%s.key", cert);
	snprintf(more, sizeof(more), "&tls_cert=%s&tls_key=%s", certs_path(pem),
		 certs_path(key));
	return with_ca(more);
}

static void close_client(void)
{
	if (!s.engine)
		return;
	dlki_drive_end(s.engine);
	dlki_engine_free(s.engine);
	dlki_real_free(s.world);
	dlki_tls_context_free(s.tls);
	dlki_uri_free(s.uri);
	s.engine = NULL;
}

static void teardown(void)
{
	close_client();
	lab_server_free(s.server);
	certs_end();
}

TestSuite(redis_tls, .init = certs_begin, .fini = teardown);

struct call {
	struct dlki_op op;
	struct dlki_waiter waiter;
};

static void on_done(struct dlki_op *op, dlk_time now)
{
	(void)now;
	dlki_waiter_done(s.engine, &((struct call *)op)->waiter);
}

/* A verb for the lock "n", to the end or for so long. */
static enum dlki_outcome call(enum dlki_verb verb, int64_t most_ms)
{
	static char key[DLKI_KEY_SIZE];
	static uint64_t ids, token;
	const struct dlk_request request = {
		.name = "n",
		.key = key,
		.owner = "00000000000000000000000000000001",
		.label = "a test",
	};
	struct call c = { .op = { .verb = verb,
				  .request = &request,
				  .id = ++ids,
				  .token = token,
				  .deadline = dlk_now() + most_ms * DLK_MS,
				  .done = on_done } };

	dlki_name_key(DLK_LOCK, "n", key);
	dlki_waiter_init(&c.waiter, DLKI_ANSWERS);
	cr_assert_eq(dlki_lock(s.engine), 0);
	cr_assert_eq(dlki_submit(s.engine, &c.op), 0);
	cr_assert(dlki_drive(s.engine, &c.waiter, DLK_FOREVER));
	dlki_unlock(s.engine);
	if (c.op.outcome == DLKI_AGAIN)
		return call(verb, most_ms);
	if (c.op.outcome == DLKI_GRANTED)
		token = c.op.token;
	return c.op.outcome;
}

static void works(void)
{
	int64_t most_ms = 2 * patience_ms();

	cr_assert_eq(call(DLKI_ATTEMPT, most_ms), DLKI_GRANTED, "%s",
		     s.engine->links[0]->why.text);
	cr_assert_eq(call(DLKI_RENEW, most_ms), DLKI_ANSWERED);
	cr_assert_eq(call(DLKI_RELEASE, most_ms), DLKI_ANSWERED);
}

/* Is `text` a part of why the last connection was lost? */
static int says(const char *text)
{
	int found;

	cr_assert_eq(dlki_lock(s.engine), 0);
	found = strstr(s.engine->links[0]->why.text, text) != NULL;
	dlki_unlock(s.engine);
	return found;
}

/* No request is sent, and the reason names the server and says `text`. */
static void refused(const char *text)
{
	enum dlki_outcome outcome;
	char peer[40];

	EVENTUALLY(says(text));
	snprintf(peer, sizeof(peer), "127.0.0.1:%d: ", s.tls_port);
	cr_assert(says(peer), "%s", s.engine->links[0]->why.text);
	outcome = call(DLKI_ATTEMPT, 50);
	cr_assert(outcome == DLKI_UNSENT || outcome == DLKI_FAILED);
	close_client();
}

/* ---- Verification -------------------------------------------------------- */

Test(redis_tls, a_lock_is_granted_renewed_and_released)
{
	serve("server", "tls-auth-clients no\n");
	open_client("localhost", s.tls_port, with_ca(""));
	works();
	close_client();
	open_client("127.0.0.1", s.tls_port, with_ca(""));
	works();
	close_client();
	open_client("a.example", s.tls_port, with_ca("&tls_name=localhost"));
	works();
	close_client();
	open_client("a.example", s.tls_port, with_ca("&tls_verify=ca"));
	works();
	close_client();
	open_client("a.example", s.tls_port, "tls_verify=off");
	works();
}

Test(redis_tls, a_wrong_name_is_refused)
{
	serve("server", "tls-auth-clients no\n");
	open_client("a.example", s.tls_port, with_ca(""));
	refused("the certificate is for 'localhost', 127.0.0.1, ::1, not "
		"'a.example'");
	open_client("localhost", s.tls_port, with_ca("&tls_name=b.example"));
	refused("not 'b.example'");
}

Test(redis_tls, an_unknown_authority_is_refused)
{
	char query[1500];

	serve("server", "tls-auth-clients no\n");
	open_client("localhost", s.tls_port, "");
	refused("signed by 'ca', which this system does not know");
	snprintf(query, sizeof(query), "tls_verify=ca&tls_ca=%s",
		 certs_path("other.pem"));
	open_client("localhost", s.tls_port, query);
	refused("signed by 'ca', which is not in tls_ca");
}

Test(redis_tls, an_expired_certificate_is_refused)
{
	certs_make(&(struct cert_spec){ .name = "old",
					.signer = "ca",
					.san = "DNS:localhost",
					.from_days = -20,
					.to_days = -10 });
	serve("old", "tls-auth-clients no\n");
	open_client("localhost", s.tls_port, with_ca(""));
	refused("the certificate expired on 20");
}

Test(redis_tls, the_server_wants_a_certificate_by_its_authority)
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
		open_client("localhost", s.tls_port, with_cert("client"));
		works();
		close_client();
		open_client("localhost", s.tls_port, with_ca(""));
		refused("a client's certificate");
		open_client("localhost", s.tls_port, with_cert("stranger"));
		refused("the server refused the client's certificate: ");
		lab_server_free(s.server);
		s.server = NULL;
	}
}

/* ---- Connections --------------------------------------------------------- */

Test(redis_tls, a_port_without_tls_is_named_so)
{
	serve("server", "tls-auth-clients no\n");
	s.tls_port = s.server->port;
	s.connect_ms = 200;
	open_client("localhost", s.server->port, with_ca(""));
	/* Redis waits for the end of a line, unless random bytes of the
	 * handshake are one, and a command that Redis does not know. */
	refused("port for TLS?");
}

static uint32_t connections(void)
{
	uint32_t n;

	cr_assert_eq(dlki_lock(s.engine), 0);
	n = s.engine->links[0]->tag.generation;
	dlki_unlock(s.engine);
	return n;
}

static int was_resumed(void)
{
	int resumed;

	cr_assert_eq(dlki_lock(s.engine), 0);
	resumed = SSL_session_reused(
		((struct dlki_tls_session *)s.engine->links[0]->tls)->ssl);
	dlki_unlock(s.engine);
	return resumed;
}

Test(redis_tls, a_lost_connection_is_made_again_and_resumed)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };
	char more[100];

	for (int i = 0; i < 2; i++) {
		snprintf(more, sizeof(more),
			 "tls-auth-clients no\ntls-protocols %s\n",
			 versions[i]);
		serve("server", more);
		open_client("localhost", s.tls_port, with_ca(""));
		works();
		cr_assert(!was_resumed());
		for (int j = 0; j < 3; j++) {
			uint32_t before = connections();

			cr_assert_eq(lab_redis_do(s.server, NULL, 0,
						  "CLIENT KILL TYPE normal"),
				     0);
			EVENTUALLY(connections() != before);
			works();
			cr_assert(was_resumed());
		}
		close_client();
		lab_server_free(s.server);
		s.server = NULL;
	}
}

/* The kernel takes the connection; the server does not. */
Test(redis_tls, a_stopped_server_is_waited_for)
{
	serve("server", "tls-auth-clients no\n");
	cr_assert_eq(lab_server_pause(s.server), 0);
	open_client("localhost", s.tls_port, with_ca(""));
	cr_assert_eq(call(DLKI_ATTEMPT, 100), DLKI_UNSENT);
	cr_assert_eq(lab_server_resume(s.server), 0);
	works();
}
