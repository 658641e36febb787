/* SPDX-License-Identifier: Apache-2.0 */
/* Connects of dlock/backend_net.h. */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/census.h"
#include "support/wait.h"
#include "unit/peer.h"

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	CHECK(getsockopt(fd, level, name, &value, &len) == 0);
	return value;
}

static void check_talks(struct dlk_net *n, int fd)
{
	struct dlk_error err = { 0 };
	char text[8] = "";
	size_t got = 0;

	CHECK_INT(dlk_net_send(n, "ping", 4, peer_deadline(patience_ms()),
			       &err),
		  ==, 0);
	CHECK_INT(read(fd, text, sizeof(text)), ==, 4);
	CHECK_INT(write(fd, "pong!", 5), ==, 5);
	CHECK_INT(dlk_net_recv(n, text, sizeof(text), &got,
			       peer_deadline(patience_ms()), &err),
		  ==, 0);
	CHECK_INT(got, ==, 5);
	CHECK(memcmp(text, "pong!", 5) == 0);
	CHECK_INT(fcntl(n->fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
}

Test(net_connect, tcp)
{
	struct dlk_net n = DLK_NET_INIT;
	struct census before;
	int fd;

	census_take(&before);
	fd = peer_tcp(&n);
	check_talks(&n, fd);
	CHECK_TEXT(n.peer, "127.0.0.1:");
	CHECK_INT(option(n.fd, IPPROTO_TCP, TCP_NODELAY), ==, 1);
	CHECK_INT(option(n.fd, SOL_SOCKET, SO_KEEPALIVE), ==, 1);
	dlk_net_close(&n);
	CHECK_INT(n.fd, ==, -1);
	dlk_net_close(&n);
	close(fd);
	census_same(&before);
}

Test(net_connect, ipv6)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	uint16_t port = 0;
	int listener = peer_listen("::1", &port, 1);
	int fd;

	if (listener < 0)
		cr_skip_test("no IPv6 here");
	if (dlk_net_tcp(&n, "::1", port, peer_deadline(patience_ms()), &err) !=
	    0)
		FAIL("%s", err.text);
	fd = peer_accept(listener);
	check_talks(&n, fd);
	CHECK_TEXT(n.peer, "[::1]:");
	dlk_net_close(&n);
	close(fd);
	close(listener);
}

static int64_t refused(const char *host)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	char who[64];
	uint16_t port = 0;
	int64_t start;

	close(peer_listen("127.0.0.1", &port, 1));
	start = now_ms();
	CHECK_INT(dlk_net_tcp(&n, host, port, peer_deadline(patience_ms()),
			      &err),
		  ==, DLOCK_EUNREACHABLE);
	snprintf(who, sizeof(who), "%s:%u", host, (unsigned int)port);
	CHECK_TEXT(err.text, who);
	CHECK_TEXT(err.text, "refused");
	CHECK_INT(n.fd, ==, -1);
	return now_ms() - start;
}

Test(net_connect, a_refused_port_is_told_at_once)
{
	struct census before;

	census_take(&before);
	CHECK_WITHIN(refused("127.0.0.1"), slack_ms());
	CHECK_WITHIN(refused("pair.test"), slack_ms());
	census_same(&before);
}

/* Fills the queue of a listener, so that the next client hears no answer. */
static void fill(int fds[4], const char *host, uint16_t port)
{
	struct dlk_error err;

	for (int i = 0; i < 4; i++) {
		struct dlk_net n = DLK_NET_INIT;

		dlk_net_tcp(&n, host, port, peer_deadline(50), &err);
		fds[i] = n.fd;
	}
	CHECK_INT(fds[3], ==, -1);
}

static int64_t connect_late(const char *host, uint16_t port)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	int64_t start = now_ms(), took;

	CHECK_INT(dlk_net_tcp(&n, host, port, peer_deadline(100), &err), ==,
		  DLOCK_EUNREACHABLE);
	took = now_ms() - start;
	CHECK_TEXT(err.text, "not connected in time");
	CHECK_INT(took, >=, 99);
	return took;
}

static int64_t connect_second(uint16_t port)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	int64_t start = now_ms();

	if (dlk_net_tcp(&n, "pair.test", port, peer_deadline(400), &err) != 0)
		FAIL("%s", err.text);
	dlk_net_close(&n);
	return now_ms() - start;
}

Test(net_connect, silence_has_its_deadline_and_each_address_its_part)
{
	uint16_t port = 0;
	int silent = peer_listen("127.0.0.2", &port, 0);
	int good = peer_listen("127.0.0.1", &port, 8);
	int fds[4];

	CHECK(silent >= 0);
	if (good < 0)
		cr_skip_test("the port was taken");
	fill(fds, "127.0.0.2", port);
	CHECK_WITHIN(connect_late("127.0.0.2", port), 100 + slack_ms());
	CHECK_WITHIN(connect_second(port), 200 + slack_ms());
	close(silent);
	/* The first address has no listener now. */
	CHECK_WITHIN(connect_second(port), slack_ms());
	for (int i = 0; i < 4; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	close(good);
}

/* So many tries use each port that the kernel gives to clients. */
Test(net_connect, never_reaches_itself_without_a_listener)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct dlk_error err;
	uint16_t port = 0;
	int listener = peer_listen("127.0.0.1", &port, 1);
	int probe;

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	any.sin_port = htons(port);
	probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(probe, (struct sockaddr *)&any, sizeof(any)) == 0);
	/* A port given to a client has the right parity. */
	{
		socklen_t len = sizeof(any);

		CHECK(getsockname(probe, (struct sockaddr *)&any, &len) == 0);
	}
	peer_reset(probe);
	close(listener);
	for (int i = 0; i < 30000; i++) {
		struct dlk_net n = DLK_NET_INIT;

		CHECK_INT(dlk_net_tcp(&n, "127.0.0.1", ntohs(any.sin_port),
				      peer_deadline(patience_ms()), &err),
			  ==, DLOCK_EUNREACHABLE);
	}
}
