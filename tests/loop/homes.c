/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/homes.h"

#include <criterion/criterion.h>

void named(uint16_t port, uint16_t other)
{
	const uint16_t ports[] = { port, other };

	script_named(&rig.world, other ? 2 : 1, ports);
}

void await(int sock, uint16_t port)
{
	for (int i = 0; rig.world.opened <= sock && i < 10; i++)
		rig_turn_until(rig.world.clock + 5000 * DLK_MS);
	cr_assert_eq(rig.world.opened, sock + 1);
	cr_assert_eq(ntohs(rig.world.socks[sock].to.to.in.sin_port), port);
}

void greet(int sock, uint16_t port, const char *hello)
{
	await(sock, port);
	rig_connect(sock);
	cr_assert_str_eq(script_heard(&rig.world, sock), "HI\n");
	script_says(&rig.world, sock, hello);
	rig_turn();
}

void refuse(int sock, uint16_t port, int error)
{
	await(sock, port);
	rig_refuse(sock, error);
}

void lose(int sock)
{
	rig.world.clock += 5000 * DLK_MS;
	rig_end(sock);
}

void expect_down(int times, const char *why)
{
	cr_assert_eq(rig.down, times);
	cr_assert_str_eq(rig.told, why);
	cr_assert(!dlki_engine_is_up(rig.e));
}

void expect_up(int times, int moves)
{
	cr_assert_eq(rig.up, times);
	cr_assert_eq(rig.moved, moves);
	cr_assert(dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.e->endpoint.epoch, (uint64_t)moves);
}

void begin(uint16_t port, uint16_t other)
{
	rig_init_host("", "h.test", NULL);
	named(port, other);
	rig_push();
}

void begin_at_home(uint16_t port)
{
	begin(port, 0);
	greet(0, port, "HI one\n");
	expect_up(1, 0);
}
