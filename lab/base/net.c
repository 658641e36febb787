/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/net.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

struct sockaddr_in lab_sockaddr(const struct lab_address *at)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)at->port) };

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return in;
}

int lab_reserve_port(int *out)
{
	struct sockaddr_in in = lab_sockaddr(&(struct lab_address){ 0 });
	socklen_t len = sizeof(in);
	int on = 1;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lab_fail("socket: %s", strerror(errno));
	/* Bound without SO_REUSEADDR, the port is ours alone.  With
	 * SO_REUSEADDR set afterwards, a server can bind the port, too. */
	if (bind(fd, (struct sockaddr *)&in, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&in, &len) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0) {
		lab_fail("no free port on " LAB_LOOPBACK ": %s",
			 strerror(errno));
		close(fd);
		return -1;
	}
	*out = fd;
	return ntohs(in.sin_port);
}

int lab_listen(const struct lab_address *at)
{
	struct sockaddr_in addr = lab_sockaddr(at);
	int on = 1;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lab_fail("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	lab_fail("listening on port %d: %s", at->port, strerror(errno));
	close(fd);
	return -1;
}

/* Wait for `events`; -1 with errno ETIMEDOUT at the deadline. */
static int wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	do {
		n = poll(&p, 1, lab_poll_ms(deadline));
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0 ? 0 : -1;
}

static int finish_connecting(int fd, int64_t deadline)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (wait_for(fd, POLLOUT, deadline) < 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -1;
	errno = err;
	return err ? -1 : 0;
}

int lab_connect(const struct lab_address *to, int64_t deadline)
{
	struct sockaddr_in addr = lab_sockaddr(to);
	int saved;
	int rc;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return lab_fail("socket: %s", strerror(errno));
	rc = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	if (rc < 0 && errno == EINPROGRESS)
		rc = finish_connecting(fd, deadline);
	if (rc < 0) {
		saved = errno;
		lab_fail("connecting to port %d: %s", to->port,
			 strerror(saved));
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

int lab_send(int fd, const void *data, size_t len, int64_t deadline)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno != EINTR &&
			   (errno != EAGAIN ||
			    wait_for(fd, POLLOUT, deadline) < 0)) {
			return lab_fail("sending: %s", strerror(errno));
		}
	}
	return 0;
}

static int read_reply(int fd, char *reply, size_t size,
		      bool (*whole)(const char *reply, size_t len),
		      int64_t deadline)
{
	size_t len = 0;
	ssize_t n;

	for (;;) {
		reply[len] = '\0';
		if (whole && len && whole(reply, len))
			return 0;
		if (len == size - 1)
			return whole ? lab_fail("the reply is longer than %zu "
						"bytes",
						len) :
				       0;
		if (wait_for(fd, POLLIN, deadline) < 0)
			return lab_fail("no reply: %s", strerror(errno));
		n = recv(fd, reply + len, size - 1 - len, MSG_DONTWAIT);
		if (!whole && (n == 0 || (n < 0 && errno == ECONNRESET)))
			return 0;
		if (n == 0)
			return lab_fail("the server closed the connection");
		if (n > 0)
			len += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return lab_fail("no reply: %s", strerror(errno));
	}
}

int lab_ask(const struct lab_address *to, const char *request, char *reply,
	    size_t size, bool (*whole)(const char *reply, size_t len),
	    int64_t deadline)
{
	int fd = lab_connect(to, deadline);
	int rc;

	if (fd < 0)
		return -1;
	rc = lab_send(fd, request, strlen(request), deadline);
	if (!rc)
		rc = read_reply(fd, reply, size, whole, deadline);
	close(fd);
	return rc;
}
