/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/tcp.h"
#include "core/net/address.h"
#include "core/net/resolve.h"

/*
 * The socket's own time-out is set once.  A recv() with the time-out needs no
 * poll() first, but may only begin if it ends by the deadline.  The kernel
 * counts the time-out in ticks of up to 10 ms, and rounds it up.
 */
#define STANDING_MS 20
#define STANDING_NS ((STANDING_MS + 12) * DLK_MS)

static dlk_time time_left(const struct dlk_net *n, dlk_time deadline)
{
	dlk_time now = dlk_now();

	deadline = dlk_deadline(deadline);
	if (n->stop && atomic_load(n->stop))
		return 0;
	return deadline > now ? deadline - now : 0;
}

/* Wait for `events` of `fd`; may return without events: callers try and
 * loop. */
static void wait_for(const struct dlk_net *n, int fd, short events, dlk_time ns)
{
	dlk_time slice = n->stop ? DLKI_STOP_SLICE_NS : DLKI_SLICE_NS;
	struct pollfd p = { .fd = fd, .events = events };
	dlk_time now = dlk_now();
	struct timespec ts;

	if (ns > slice)
		ns = slice;
	ns = dlk_wait_slice(now + ns, 1) - now;
	ts.tv_sec = ns / 1000000000;
	ts.tv_nsec = ns % 1000000000;
	ppoll(&p, 1, &ts, NULL);
}

static int fail_unreachable(const struct dlk_net *n, const char *why,
			    struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", n->peer, why);
}

static int fail_socket(const struct dlk_net *n, int errnum,
		       struct dlk_error *err)
{
	switch (errnum) {
	case ENOBUFS:
		return dlki_nomem(err);
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EBADF:
	case EFAULT:
	case EINVAL:
	case ENOTSOCK:
		return dlki_system(err, errnum, n->peer);
	case EPIPE:
		return fail_unreachable(n, "the connection was closed", err);
	default:
		return fail_unreachable(n, dlki_errno_text(errnum), err);
	}
}

/* ---- Connecting ---------------------------------------------------------- */

static int fail_connect(struct dlk_net *n, int errnum, struct dlk_error *err)
{
	n->refused_by = errnum;
	return fail_socket(n, errnum, err);
}

static int await_connected(struct dlk_net *n, dlk_time deadline,
			   struct dlk_error *err)
{
	struct pollfd p = { .fd = n->fd, .events = POLLOUT };
	const struct timespec none = { 0, 0 };
	socklen_t len = sizeof(int);
	int errnum = 0;

	while (ppoll(&p, 1, &none, NULL) <= 0) {
		dlk_time ns = time_left(n, deadline);

		if (ns == 0)
			return fail_unreachable(n, "not connected in time",
						err);
		wait_for(n, n->fd, POLLOUT, ns);
	}
	if (getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
		errnum = errno;
	if (errnum == 0 && dlki_tcp_is_echo(n->fd))
		errnum = ECONNREFUSED;
	return errnum == 0 ? 0 : fail_connect(n, errnum, err);
}

/* Connect to a unix socket, waiting for room in the queue: a full queue says
 * EAGAIN, and no poll() tells of room. */
static int await_queue(struct dlk_net *n, const struct sockaddr *addr,
		       socklen_t len, dlk_time deadline, struct dlk_error *err)
{
	while (connect(n->fd, addr, len) < 0) {
		dlk_time ns = time_left(n, deadline);

		if (errno == EACCES || errno == EPERM)
			return dlki_system(err, errno, n->peer);
		if (errno != EAGAIN && errno != EINTR)
			return fail_connect(n, errno, err);
		if (ns == 0)
			return fail_unreachable(n, "not connected in time",
						err);
		wait_for(n, -1, 0, ns < DLK_MS ? ns : DLK_MS);
	}
	return 0;
}

static int set_options(const struct dlk_net *n, struct dlk_error *err)
{
	const struct timeval tv = { 0, STANDING_MS * 1000L };

	if (setsockopt(n->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0 ||
	    fcntl(n->fd, F_SETFL, 0) < 0)
		return dlki_system(err, errno, n->peer);
	return 0;
}

static int connect_tcp(struct dlk_net *n, const struct sockaddr *addr,
		       socklen_t len, dlk_time deadline, struct dlk_error *err)
{
	dlki_tcp_tune(n->fd);
	/* Interrupted or not, the kernel goes on connecting. */
	if (connect(n->fd, addr, len) < 0 && errno != EINPROGRESS &&
	    errno != EINTR)
		return fail_connect(n, errno, err);
	return await_connected(n, deadline, err);
}

int dlk_net_connect(struct dlk_net *n, const struct sockaddr *addr,
		    socklen_t len, dlk_time deadline, struct dlk_error *err)
{
	int family = addr->sa_family;
	int rc;

	assert(n->fd < 0);
	n->refused_by = 0;
	n->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0)
		return fail_connect(n, errno, err);
	if (family == AF_UNIX)
		rc = await_queue(n, addr, len, deadline, err);
	else
		rc = connect_tcp(n, addr, len, deadline, err);
	if (rc == 0)
		rc = set_options(n, err);
	if (rc != 0)
		dlk_net_close(n);
	return rc;
}

int dlk_net_tcp(struct dlk_net *n, const char *host, uint16_t port,
		dlk_time deadline, struct dlk_error *err)
{
	struct addrinfo *list, *ai;
	int todo = 0;
	int rc;

	assert(n->fd < 0);
	dlki_address_text_of(host, port, n->peer);
	rc = dlki_resolve(&list, host, port, n->stop, deadline, err);
	if (rc != 0)
		return rc;
	for (ai = list; ai; ai = ai->ai_next)
		todo++;
	rc = DLOCK_EUNREACHABLE;
	for (ai = list; ai && rc == DLOCK_EUNREACHABLE; ai = ai->ai_next) {
		dlk_time ns = time_left(n, deadline);

		rc = dlk_net_connect(n, ai->ai_addr, ai->ai_addrlen,
				     deadline - ns + ns / todo, err);
		todo--;
	}
	dlki_resolve_free(list);
	return rc;
}

int dlk_net_unix(struct dlk_net *n, const char *path, dlk_time deadline,
		 struct dlk_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(addr.sun_path))
		return dlk_fail(err, DLOCK_EINVAL,
				"the path of a unix socket has 1 to %zu "
				"bytes, not %zu: '%s'",
				sizeof(addr.sun_path) - 1, len, path);
	memcpy(addr.sun_path, path, len);
	snprintf(n->peer, sizeof(n->peer), "%s", path);
	return dlk_net_connect(n, (const struct sockaddr *)&addr, sizeof(addr),
			       deadline, err);
}

void dlk_net_text(const struct sockaddr *addr, socklen_t len, char out[80])
{
	char host[64], port[8];
	int v6 = addr->sa_family == AF_INET6;

	if (getnameinfo(addr, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		snprintf(out, 80, "%s%s%s:%s", v6 ? "[" : "", host,
			 v6 ? "]" : "", port);
	else
		snprintf(out, 80, "an unknown address");
}

/* ---- Talking ------------------------------------------------------------- */

/* Send without the socket's own time-out, which a unix socket counts anew for
 * each piece of a long message. */
int dlk_net_send(struct dlk_net *n, const void *data, size_t len,
		 dlk_time deadline, struct dlk_error *err)
{
	const char *from = data;

	while (len > 0) {
		dlk_time ns = time_left(n, deadline);
		ssize_t sent;

		if (ns == 0)
			return fail_unreachable(n, "not sent in time", err);
		sent = send(n->fd, from, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent >= 0) {
			from += sent;
			len -= (size_t)sent;
		} else if (errno == EAGAIN) {
			wait_for(n, n->fd, POLLOUT, ns);
		} else if (errno != EINTR) {
			return fail_socket(n, errno, err);
		}
	}
	return 0;
}

int dlk_net_recv(struct dlk_net *n, void *data, size_t size, size_t *got,
		 dlk_time deadline, struct dlk_error *err)
{
	int slow = 0; /* long waits sleep once, not every STANDING_MS */

	for (;;) {
		dlk_time ns = time_left(n, deadline);
		ssize_t here;

		if (ns == 0)
			return fail_unreachable(n, "no answer in time", err);
		slow = slow || ns < STANDING_NS;
		if (slow)
			wait_for(n, n->fd, POLLIN, ns);
		here = recv(n->fd, data, size, slow ? MSG_DONTWAIT : 0);
		if (here > 0) {
			*got = (size_t)here;
			return 0;
		}
		if (here == 0)
			return fail_socket(n, EPIPE, err);
		if (errno == EAGAIN)
			slow = 1;
		else if (errno != EINTR)
			return fail_socket(n, errno, err);
	}
}

int dlk_net_quiet(const struct dlk_net *n)
{
	char byte;

	return recv(n->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

void dlk_net_hang_up(const struct dlk_net *n)
{
	shutdown(n->fd, SHUT_RDWR);
}

void dlk_net_close(struct dlk_net *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
