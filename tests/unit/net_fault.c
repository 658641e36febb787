/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that fail under a connection. */
#include <dlock/backend_net.h>

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/tcp.h"
#include "support/census.h"
#include "support/fault.h"
#include "support/wait.h"
#include "unit/peer.h"

/* ---- Connecting ---------------------------------------------------------- */

struct fault {
	const char *call;
	int n, errnum, code;
};

/* Connects under the fault, and to the end without. */
static void connects(const struct fault *f, uint16_t port)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	dlk_time end = peer_deadline(patience_ms());
	int rc;

	fault_in(f->call, f->n, f->errnum);
	rc = dlk_net_tcp(&n, "127.0.0.1", port, end, &err);
	CHECK(fault_came());
	if (rc != f->code)
		FAIL("%s: %d: %s", f->call, rc, err.text);
	if (rc == 0) {
		CHECK_INT(dlk_net_send(&n, "x", 1, end, &err), ==, 0);
		dlk_net_close(&n);
		return;
	}
	CHECK_INT(n.fd, ==, -1);
	CHECK_INT(err.code, ==, rc);
	if (rc != DLOCK_ENOMEM)
		CHECK_TEXT(err.text, n.peer);
}

Test(net_fault, a_connect_tells_of_tcp)
{
	static const struct fault faults[] = {
		{ "socket", 1, EMFILE, DLOCK_EEXHAUSTED },
		{ "socket", 1, ENOBUFS, DLOCK_ENOMEM },
		{ "socket", 1, ENOMEM, DLOCK_ENOMEM },
		{ "connect", 1, ENETUNREACH, DLOCK_EUNREACHABLE },
		{ "connect", 1, EINVAL, DLOCK_ESYSTEM },
		{ "connect", 1, EINTR, 0 },
		{ "getsockopt", 1, ENOBUFS, DLOCK_ENOMEM },
		{ "setsockopt", 1, ENOMEM, 0 }, /* it only tunes */
	};
	struct census before;
	uint16_t port = 0;
	int listener;

	census_take(&before);
	listener = peer_listen("127.0.0.1", &port, 16);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		connects(&faults[i], port);
	close(listener);
	census_same(&before);
}

Test(net_fault, a_name_without_a_host_is_not_connected_to)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };

	CHECK_INT(dlk_net_tcp(&n, "absent.test", 1,
			      peer_deadline(patience_ms()), &err),
		  ==, DLOCK_EUNREACHABLE);
	CHECK_TEXT(err.text, "no host has this name");
	CHECK_INT(n.fd, ==, -1);
}

/* ---- Talking ------------------------------------------------------------- */

static int says(struct dlk_net *n, struct dlk_error *err)
{
	return dlk_net_send(n, "x", 1, peer_deadline(patience_ms()), err);
}

static int hears(struct dlk_net *n, struct dlk_error *err)
{
	char byte;
	size_t got;

	return dlk_net_recv(n, &byte, 1, &got, peer_deadline(patience_ms()),
			    err);
}

Test(net_fault, an_interrupted_call_goes_on)
{
	struct dlk_net n = DLK_NET_INIT;
	struct dlk_error err = { 0 };
	int fd = peer_tcp(&n);
	char byte;

	fault_in("send", 1, EINTR);
	CHECK_INT(says(&n, &err), ==, 0);
	CHECK(fault_came());
	CHECK_INT(read(fd, &byte, 1), ==, 1);
	CHECK_INT(write(fd, "y", 1), ==, 1);
	fault_in("recv", 1, EINTR);
	CHECK_INT(hears(&n, &err), ==, 0);
	CHECK(fault_came());
	fault_in("recv", 1, EINTR);
	CHECK(dlk_net_quiet(&n)); /* the peer is not at fault */
	CHECK(fault_came());
	dlk_net_close(&n);
	close(fd);
}

Test(net_fault, a_failure_of_the_system_is_not_the_peers)
{
	static const struct fault faults[] = {
		{ "send", 1, ENOBUFS, DLOCK_ENOMEM },
		{ "send", 1, ENOMEM, DLOCK_ENOMEM },
		{ "send", 1, EFAULT, DLOCK_ESYSTEM },
		{ "send", 1, EHOSTUNREACH, DLOCK_EUNREACHABLE },
		{ "recv", 1, ENOMEM, DLOCK_ENOMEM },
		{ "recv", 1, ENOTSOCK, DLOCK_ESYSTEM },
		{ "recv", 1, ETIMEDOUT, DLOCK_EUNREACHABLE },
	};
	struct dlk_net n = DLK_NET_INIT;
	int fd = peer_tcp(&n);

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct fault *f = &faults[i];
		struct dlk_error err = { 0 };

		fault_in(f->call, f->n, f->errnum);
		CHECK_INT(f->call[0] == 's' ? says(&n, &err) : hears(&n, &err),
			  ==, f->code);
		CHECK(fault_came());
		CHECK_INT(err.code, ==, f->code);
	}
	dlk_net_close(&n);
	close(fd);
}

/* A connect to a port of this host may meet itself. */
Test(net_fault, an_echo_is_the_own_address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	struct dlk_net n = DLK_NET_INIT;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int other, pair[2];

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	CHECK(!dlki_tcp_is_echo(fd)); /* not connected */
	CHECK(getsockname(fd, (struct sockaddr *)&to, &len) == 0);
	CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	CHECK(dlki_tcp_is_echo(fd));
	close(fd);
	CHECK(!dlki_tcp_is_echo(fd));
	other = peer_tcp(&n);
	CHECK(!dlki_tcp_is_echo(n.fd));
	dlk_net_close(&n);
	close(other);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(!dlki_tcp_is_echo(pair[0]));
	close(pair[0]);
	close(pair[1]);
}
