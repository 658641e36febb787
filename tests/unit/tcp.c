/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/tcp.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/address.h"
#include "support/check.h"

/* A connect to a port of this host may meet itself. */
Test(tcp, an_echo_is_the_own_address)
{
	struct dlki_address at;
	int fd = address_bound(&at), other, pair[2];

	CHECK(!dlki_tcp_is_echo(fd)); /* not connected */
	CHECK(connect(fd, &at.to.any, at.len) == 0);
	CHECK(dlki_tcp_is_echo(fd));
	close(fd);
	CHECK(!dlki_tcp_is_echo(fd));
	fd = address_bound(&at);
	CHECK(listen(fd, 1) == 0);
	other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(other, &at.to.any, at.len) == 0);
	CHECK(!dlki_tcp_is_echo(other));
	close(other);
	close(fd);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(!dlki_tcp_is_echo(pair[0]));
	close(pair[0]);
	close(pair[1]);
}
