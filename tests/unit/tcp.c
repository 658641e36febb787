/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/tcp.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

static int bound(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)at, len) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)at, &len) == 0);
	return fd;
}

/* A connect to a port of this host may meet itself. */
Test(tcp, an_echo_is_the_own_address)
{
	struct sockaddr_in at;
	int fd = bound(&at), other, pair[2];

	CHECK(!dlki_tcp_is_echo(fd)); /* not connected */
	CHECK(connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(dlki_tcp_is_echo(fd));
	close(fd);
	CHECK(!dlki_tcp_is_echo(fd));
	fd = bound(&at);
	CHECK(listen(fd, 1) == 0);
	other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(other, (struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(!dlki_tcp_is_echo(other));
	close(other);
	close(fd);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(!dlki_tcp_is_echo(pair[0]));
	close(pair[0]);
	close(pair[1]);
}
