/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a real server: foreign keys, and limits.  replies.c has every error
 * reply. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"

TestSuite(redis_errors, .timeout = 120);

/* Behind a refusal no request is on its way: the client releases once, and not
 * again and again until the lease is over. */
CASE(redis_errors, that_refuse_cost_no_clean_up)
{
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=60s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *none = NULL;
	uint64_t run;

	warm_up(c);
	server_do(server, "SET dlock:{lnx} junk");
	run = scripts_run(server);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EPROTO);
	EVENTUALLY(stats(c).pending_cleanups == 0);
	CHECK_INT((int)(scripts_run(server) - run), <=, 3);
	server_do(server, "DEL dlock:{lnx}");
	server_do(server, "CONFIG SET maxmemory 1");
	run = scripts_run(server);
	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "no memory left");
	EVENTUALLY(stats(c).pending_cleanups == 0);
	CHECK_INT((int)(scripts_run(server) - run), <=, 3);
	server_do(server, "CONFIG SET maxmemory 0");
	give(take(l, patience_ms()));
}

/* ---- Foreign keys -------------------------------------------------------- */

static void note_label(const struct dlock_participant *p, void *arg)
{
	snprintf(arg, 64, "%s/%d", p->label, p->remaining_ms > 30000);
}

/* With a foreign key in the lock's place, an acquire fails, an inspection shows
 * the key, and neither changes the key. */
CASE(redis_errors, a_foreign_key_is_named_and_left_alone)
{
	static const struct {
		const char *set, *says, *shows;
	} foreign[] = {
		{ "LPUSH dlock:{lnx} a", "another type", NULL },
		{ "SET dlock:{lnx} something", "never expires", "not dlock's" },
		/* Sixteen digits are a token.  Lua takes this for a number. */
		{ "SET dlock:{lnx} 0x00000000000001", "never expires", "/0" },
	};
	struct lab_server *server = server_start(NULL);
	dlock_client *c = client_of(server->port, "ttl=2s", NULL);
	dlock_lock *l = mutex(c, "x"), *other = mutex(c, "other");
	dlock_hold *none = NULL;

	for (size_t i = 0; i < 3; i++) {
		char label[64] = "", before[256];

		server_do(server, "%s", foreign[i].set);
		snprintf(before, sizeof(before), "%s",
			 server_do(server, "DUMP dlock:{lnx}"));
		/* The next attempt takes the script for locks with a token. */
		give(take(other, 0));
		CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EPROTO);
		CHECK_TEXT(dlock_errmsg(), foreign[i].says);
		CHECK_RC(dlock_acquire(l, patience_ms(), &none), DLOCK_EPROTO);
		CHECK_RC(dlock_inspect(l, note_label, label, patience_ms()),
			 foreign[i].shows ? DLOCK_OK : DLOCK_EPROTO);
		CHECK_TEXT(foreign[i].shows ? label : dlock_errmsg(),
			   foreign[i].shows ? foreign[i].shows :
					      foreign[i].says);
		CHECK_TEXT(server_do(server, "DUMP dlock:{lnx}"), before);
		server_do(server, "DEL dlock:{lnx}");
		give(take(l, 0));
	}
}

/* ---- Limits of the server ------------------------------------------------ */

CASE(redis_errors, a_server_without_room_for_clients_says_so)
{
	struct lab_redis_options o = { .config = "maxclients 4\n" };
	struct lab_server *server = server_start(&o);
	dlock_client *c[4] = { NULL };
	int rc = DLOCK_OK, n = 0;

	while (n < 4 && rc == DLOCK_OK)
		rc = dlock_open(&c[n++], uri_of(server->port, "connect=1s"),
				NULL);
	if (rc == DLOCK_OK) {
		dlock_client *one_more = NULL;

		rc = dlock_open(&one_more, uri_of(server->port, "connect=1s"),
				NULL);
	} else {
		n--;
	}
	CHECK_RC(rc, DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "maxclients");
	while (n > 0)
		dlock_close(c[--n]);
	EVENTUALLY(lab_redis_do(server, NULL, 0, "PING") == 0);
}

CASE(redis_errors, a_server_that_is_blocked_by_a_script_is_waited_for)
{
	struct lab_redis_options o = { .config = "lua-time-limit 50\n" };
	struct lab_server *server = server_start(&o);
	dlock_client *c = client_of(server->port, "ttl=30s&ask=2s", NULL);
	dlock_lock *l = mutex(c, "x");
	dlock_hold *h = NULL;
	struct lab_address to = lab_server_address(server);
	const char *loop = "EVAL \"while true do end\" 0\r\n";
	int fd = lab_connect(&to, now_ms() * 1000000 + 5000000000);

	warm_up(c);
	CHECK(fd >= 0);
	CHECK(lab_send(fd, loop, strlen(loop),
		       now_ms() * 1000000 + 5000000000) == 0);
	EVENTUALLY(lab_redis_do(server, NULL, 0, "PING") < 0);
	CHECK_TEXT(lab_errmsg(), "BUSY");
	CHECK_RC(dlock_acquire(l, 200, &h), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "script");
	EVENTUALLY(lab_redis_do(server, NULL, 0, "SCRIPT KILL") == 0);
	give(take(l, patience_ms()));
	close(fd);
}
