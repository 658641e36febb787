/* SPDX-License-Identifier: Apache-2.0 */
/* memcacheds: by the public interface. tests/tls has the refusals of TLS. */
#include <criterion/criterion.h>
#include <dlock/dlock.h>
#include <stdio.h>
#include <string.h>

#include "lab/base/fail.h"
#include "support/opening.h"
#include "support/wait.h"
#include "tests/tls/certs.h"
#include "tests/tls/stores/servers.h"

static struct lab_server *server, *second;
static int tls_port;

static void end(void)
{
	lab_server_free(server);
	lab_server_free(second);
	certs_end();
}

TestSuite(memcacheds, .init = certs_begin, .fini = end, .timeout = 60);

static void serve(const char *users)
{
	server = tls_memcached_start(users, &tls_port);
	cr_assert_not_null(server, "%s", lab_errmsg());
}

static const char *uri(const char *login)
{
	static char text[2000];

	snprintf(text, sizeof(text),
		 "memcacheds://%s127.0.0.1:%d/?connect=%llds&tls_ca=%s", login,
		 tls_port, 5 * (long long)slowness(), certs_path("ca.pem"));
	return text;
}

static void refused(const char *text, int code, const char *part)
{
	opening_fails(text, code, part);
	cr_assert_null(strstr(dlock_errmsg(), "secret"));
}

Test(memcacheds, a_login_crosses_the_network_encrypted)
{
	serve(certs_file("users", "me:secret\n", 0600));
	refused(uri(""), DLOCK_EDENIED, "wants a login (its -Y)");
	refused(uri("me:secre@"), DLOCK_EDENIED,
		"refused our user and password");
	opening_works(uri("me:secret@"), NULL);
}

/* The names' servers differ: each of both was asked. */
static void uses_both(const char *text)
{
	dlock_client *client;

	cr_assert_eq(dlock_open(&client, text, NULL), 0, "%s", dlock_errmsg());
	for (int i = 0; i < 20; i++) {
		dlock_lock *lock;
		dlock_hold *hold;
		char name[20];

		snprintf(name, sizeof(name), "n%d", i);
		cr_assert_eq(dlock_mutex_new(&lock, client, name), 0);
		cr_assert_eq(dlock_acquire(lock, patience_ms(), &hold), 0, "%s",
			     dlock_errmsg());
		cr_assert_eq(dlock_release(hold), 0);
		dlock_lock_free(lock);
	}
	dlock_close(client);
}

Test(memcacheds, a_fleet_has_tls_and_the_login_on_each_server)
{
	const char *users = certs_file("users", "me:secret\n", 0600);
	const char *ca = certs_path("ca.pem");
	char text[2000];
	int first;

	serve(users);
	first = tls_port;
	second = tls_memcached_start(users, &tls_port);
	cr_assert_not_null(second, "%s", lab_errmsg());
	snprintf(text, sizeof(text),
		 "memcacheds://me:secret@127.0.0.1:%d,127.0.0.1:%d/?tls_ca=%s",
		 first, tls_port, ca);
	uses_both(text);
	snprintf(text, sizeof(text),
		 "memcacheds://127.0.0.1:%d,127.0.0.1:%d/?tls_ca=%s", first,
		 tls_port, ca);
	refused(text, DLOCK_EDENIED, "wants a login (its -Y)");
	refused("memcacheds:///?pool=--SERVER%3D127.0.0.1:1%20"
		"--SOCKET%3D%22/run/m%22",
		DLOCK_EINVAL, "no TLS on the unix socket '/run/m'");
}
