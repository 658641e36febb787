/* SPDX-License-Identifier: Apache-2.0 */
/* The greeting of the Redis protocol: INFO, and the ear. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_greeting, .fini = rig_end);

static void begin(void)
{
	rig_begin("redis://h?ttl=10s");
	rig_heard(RIG_MAIN);
}

/* Socket `sock` is connected, and has asked this. */
static void connect_sock(int sock, const char *asked)
{
	rig_connected(sock);
	cr_assert_str_eq(rig_heard(sock), asked);
}

/* BUSY, and the ear is connected. */
static void begin_with_ear(void)
{
	begin();
	rig_say_string(RIG_MAIN, "run_id:one\r\n");
	rig_submit(0, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "$3\r\nB 0\r\n");
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	connect_sock(RIG_EAR, INFO_SERVER SUBSCRIBE);
}

/* ---- The server ---------------------------------------------------------- */

Test(redis_greeting, a_server_that_may_lose_locks_is_warned_of_once)
{
	static const struct {
		const char *info, *warning;
	} bad[] = {
		{ "run_id:one\r\nrole:slave\r\n",
		  "127.0.0.1:6379 is a replica and takes no locks; give the "
		  "master" },
		{ "run_id:one\r\nmaxmemory_policy:volatile-lru;!\r\n",
		  "127.0.0.1:6379 drops keys when its memory is full "
		  "(maxmemory-policy volatile-lru), and locks with them; "
		  "noeviction is right for locks" },
		{ "run_id:one\r\naof_enabled:0\r\n",
		  "127.0.0.1:6379 keeps no log of writes (appendonly no): when "
		  "it restarts, every holder loses its lock" },
	};

	for (int i = 0; i < 3; i++) {
		begin();
		rig_say_string(RIG_MAIN, bad[i].info);
		cr_assert_eq(rig.warned, 1);
		cr_assert_str_eq(rig.warning, bad[i].warning);
		rig_lose(RIG_MAIN);
		connect_sock(1, INFO_SERVER);
		rig_say_string(1, bad[i].info);
		cr_assert(dlki_engine_is_up(rig.e));
		cr_assert_eq(rig.warned, 1);
	}
}

Test(redis_greeting, a_good_server_is_not_warned_of)
{
	begin();
	rig_say_string(RIG_MAIN,
		       "redis_version:6.2.0\r\nrun_id:one\r\n"
		       "maxmemory_policy:noeviction\r\naof_enabled:1\r\n"
		       "role:master\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.warned, 0);
}

Test(redis_greeting, a_server_that_keeps_info_is_its_address)
{
	begin();
	rig_say(RIG_MAIN, "-NOPERM this user has no permissions\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.warned, 1);
	cr_assert_str_eq(rig.warning,
			 "127.0.0.1:6379 keeps INFO from us: a restart is not "
			 "noticed until a renewal finds holds gone; permit "
			 "INFO");
	cr_assert_str_eq(rig.e->endpoint.home, "at 127.0.0.1:6379");
}

Test(redis_greeting, the_run_is_the_identity)
{
	begin();
	rig_say_string(RIG_MAIN,
		       "redis_version:7.0.15\r\nrun_id:0aB9\x01x\r\n");
	cr_assert_str_eq(rig.e->endpoint.home, "0aB9");
	rig_lose(RIG_MAIN);
	connect_sock(1, INFO_SERVER);
	rig_say_string(1, "run_id:other\r\n");
	cr_assert_eq(rig.moved, 1);
}

Test(redis_greeting, memcached_is_told_from_redis)
{
	begin();
	rig_submit(1, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "ERROR\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1],
			 "127.0.0.1:6379 answers as memcached does, not "
			 "as Redis: use memcached:// for it");
}

Test(redis_greeting, nonsense_is_refused)
{
	begin();
	rig_submit(1, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, ":1\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1],
			 "127.0.0.1:6379 sent an answer that dlock does "
			 "not understand");
}

/* ---- The ear ------------------------------------------------------------- */

Test(redis_greeting, the_ear_must_be_at_the_same_server)
{
	begin_with_ear();
	rig_say_string(RIG_EAR, "run_id:one\r\n");
	cr_assert_eq(rig.looked, 0);
	rig_say(RIG_EAR, SUBSCRIBED);
	cr_assert_eq(rig.looked, 1);
	rig_lose(RIG_EAR);
	connect_sock(2, INFO_SERVER SUBSCRIBE);
	rig_say_string(2, "run_id:two\r\n");
	rig_say(2, SUBSCRIBED);
	cr_assert_eq(rig.looked, 1);
	cr_assert(!rig.world.socks[2].is_open);
	cr_assert(!rig.world.socks[RIG_MAIN].is_open, "the main link looks");
}

Test(redis_greeting, an_ear_that_is_refused_is_told_of_once)
{
	begin_with_ear();
	rig_say_string(RIG_EAR, "run_id:one\r\n");
	rig_say(RIG_EAR, "-NOPERM this user has no permissions\r\n");
	connect_sock(2, INFO_SERVER SUBSCRIBE);
	rig_say_string(2, "run_id:one\r\n");
	rig_say(2, "-NOPERM this user has no permissions\r\n");
	cr_assert_eq(rig.warned, 1);
	cr_assert_eq(strncmp(rig.warning,
			     "waiters poll more often: 127.0.0.1:6379 "
			     "does not permit this user",
			     65),
		     0, "%s", rig.warning);
	cr_assert(rig.world.socks[RIG_MAIN].is_open);
	rig_submit(1, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
}
