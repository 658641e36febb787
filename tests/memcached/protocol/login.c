/* SPDX-License-Identifier: Apache-2.0 */
/* The text protocol's authentication, byte by byte. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_login, .fini = rig_end);

#define ASKED "version                 \r\n"
#define WANTED "CLIENT_ERROR unauthenticated\r\n"
#define LOGIN "set auth 0 0 9\r\nme secret\r\n"

static const char *why(void)
{
	static struct dlk_error err;

	dlki_engine_why(rig.e, &err);
	cr_assert_eq(err.code, DLOCK_EDENIED, "%s", err.text);
	cr_assert_null(strstr(err.text, "secret"));
	return err.text;
}

Test(memcached_login, is_the_first_that_a_server_is_told)
{
	rig_begin_login("");
	rig_expect(ASKED);
	rig_say_slowly(RIG_MAIN, WANTED);
	rig_expect(LOGIN GREETING "mn\r\n");
	rig_say_slowly(RIG_MAIN, "STORED\r\n");
	rig_welcome(RIG_MAIN, 100, 1);
	rig_say(RIG_MAIN, "MN\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

Test(memcached_login, comes_with_each_connection)
{
	rig_begin_login("&protocol=text");
	for (int sock = 0; sock < 3; sock++) {
		if (sock > 0) {
			rig_lose(sock - 1);
			rig_connected(sock);
		}
		cr_assert_str_eq(rig_heard(sock), ASKED);
		rig_say(sock, WANTED);
		cr_assert_str_eq(rig_heard(sock), LOGIN GREETING);
		rig_say(sock, "STORED\r\n");
		rig_welcome(sock, 100, 0);
		cr_assert(dlki_engine_is_up(rig.e));
	}
}

/* Such a server would store the login as an item. */
Test(memcached_login, is_kept_from_a_server_that_wants_none)
{
	rig_begin_login("");
	rig_expect(ASKED);
	rig_say(RIG_MAIN, "VERSION 1.6.18\r\n");
	rig_expect("");
	cr_assert_not_null(strstr(why(), "the server has no passwords"));
}

Test(memcached_login, that_is_refused_is_named)
{
	rig_begin_login("");
	rig_say(RIG_MAIN, WANTED);
	rig_say(RIG_MAIN, "CLIENT_ERROR authentication failure\r\n");
	cr_assert_not_null(strstr(why(), "refused our user and password"));
}

/* Such a server speaks the binary protocol alone, and closes the connection. */
Test(memcached_login, by_sasl_is_named)
{
	struct dlk_error err;

	for (int login = 0; login <= 1; login++) {
		if (login)
			rig_begin_login("");
		else
			rig_begin("");
		rig_lose(RIG_MAIN);
		dlki_engine_why(rig.e, &err);
		cr_assert_eq(err.code, DLOCK_EUNREACHABLE);
		cr_assert_not_null(strstr(err.text, "SASL"), "%s", err.text);
	}
}

Test(memcached_login, that_is_missing_is_named)
{
	rig_begin("");
	rig_say(RIG_MAIN, WANTED);
	cr_assert_not_null(strstr(why(), "wants a login (its -Y)"));
}
