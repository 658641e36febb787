/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "core/base/tcp.h"

int dlki_socket_open(const struct dlki_address *to)
{
	int family = to->to.any.sa_family;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (family != AF_UNIX)
		dlki_tcp_tune(fd);
	return fd;
}

int dlki_socket_connect(int fd, const struct dlki_address *to)
{
	/* Interrupted or not, the kernel goes on connecting. */
	if (connect(fd, &to->to.any, to->len) == 0 || errno == EINPROGRESS ||
	    errno == EINTR)
		return 0;
	return -errno;
}

/* Let the socket block, for a time that the kernel rounds up by at most two
 * ticks.  If either call fails, await() is no more than a read. */
static void let_block(int fd)
{
	const struct timeval longest = { .tv_usec = 2000 };
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest,
				     sizeof(longest)) == 0)
		(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

int dlki_socket_finish(struct dlki_world *w, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int errnum = 0;

	(void)w;
	if (poll(&p, 1, 0) <= 0)
		return -EINPROGRESS;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
		errnum = errno;
	if (errnum == 0 && dlki_tcp_is_echo(fd))
		errnum = ECONNREFUSED;
	if (errnum == 0)
		let_block(fd);
	return -errnum;
}

ssize_t dlki_socket_read(struct dlki_world *w, int fd, void *out, size_t size)
{
	ssize_t n;

	(void)w;
	do
		n = recv(fd, out, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Read, and wait for bytes.  A signal ends the wait: under many signals the
 * wait would have no end. */
ssize_t dlki_socket_await(struct dlki_world *w, int fd, void *out, size_t size)
{
	ssize_t n = recv(fd, out, size, 0);

	(void)w;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return n;
}

ssize_t dlki_socket_write(struct dlki_world *w, int fd, const void *bytes,
			  size_t size)
{
	ssize_t n;

	(void)w;
	do
		n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
