/* SPDX-License-Identifier: Apache-2.0 */
#include <dlock/backend_net.h>

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/tcp.h"
#include "core/net/address.h"
#include "core/net/resolve.h"

static dlk_time time_left(dlk_time deadline)
{
	dlk_time now = dlk_now();

	deadline = dlk_deadline(deadline);
	return deadline > now ? deadline - now : 0;
}

/* Wait for `events`; may return without events: callers try and loop. */
static void wait_for(const struct dlk_net *n, short events, dlk_time ns)
{
	struct pollfd p = { .fd = n->fd, .events = events };
	dlk_time now = dlk_now();
	struct timespec ts;

	if (ns > DLKI_SLICE_NS)
		ns = DLKI_SLICE_NS;
	ns = dlk_wait_slice(now + ns) - now;
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
		dlk_time ns = time_left(deadline);

		if (ns == 0)
			return fail_unreachable(n, "not connected in time",
						err);
		wait_for(n, POLLOUT, ns);
	}
	if (getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
		errnum = errno;
	if (errnum == 0 && dlki_tcp_is_echo(n->fd))
		errnum = ECONNREFUSED;
	return errnum == 0 ? 0 : fail_connect(n, errnum, err);
}

static int connect_to(struct dlk_net *n, const struct addrinfo *to,
		      dlk_time deadline, struct dlk_error *err)
{
	int rc;

	n->refused_by = 0;
	n->fd = socket(to->ai_family,
		       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0)
		return fail_connect(n, errno, err);
	dlki_tcp_tune(n->fd);
	/* Interrupted or not, the kernel goes on connecting. */
	if (connect(n->fd, to->ai_addr, to->ai_addrlen) < 0 &&
	    errno != EINPROGRESS && errno != EINTR)
		rc = fail_connect(n, errno, err);
	else
		rc = await_connected(n, deadline, err);
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
	rc = dlki_resolve(&list, host, port, deadline, err);
	if (rc != 0)
		return rc;
	for (ai = list; ai; ai = ai->ai_next)
		todo++;
	rc = DLOCK_EUNREACHABLE;
	for (ai = list; ai && rc == DLOCK_EUNREACHABLE; ai = ai->ai_next) {
		dlk_time ns = time_left(deadline);

		rc = connect_to(n, ai, deadline - ns + ns / todo, err);
		todo--;
	}
	dlki_resolve_free(list);
	return rc;
}

/* ---- Talking ------------------------------------------------------------- */

int dlk_net_send(struct dlk_net *n, const void *data, size_t len,
		 dlk_time deadline, struct dlk_error *err)
{
	const char *from = data;

	while (len > 0) {
		dlk_time ns = time_left(deadline);
		ssize_t sent;

		if (ns == 0)
			return fail_unreachable(n, "not sent in time", err);
		sent = send(n->fd, from, len, MSG_NOSIGNAL);
		if (sent >= 0) {
			from += sent;
			len -= (size_t)sent;
		} else if (errno == EAGAIN) {
			wait_for(n, POLLOUT, ns);
		} else if (errno != EINTR) {
			return fail_socket(n, errno, err);
		}
	}
	return 0;
}

int dlk_net_recv(struct dlk_net *n, void *data, size_t size, size_t *got,
		 dlk_time deadline, struct dlk_error *err)
{
	for (;;) {
		dlk_time ns = time_left(deadline);
		ssize_t here;

		if (ns == 0)
			return fail_unreachable(n, "no answer in time", err);
		wait_for(n, POLLIN, ns);
		here = recv(n->fd, data, size, 0);
		if (here > 0) {
			*got = (size_t)here;
			return 0;
		}
		if (here == 0)
			return fail_socket(n, EPIPE, err);
		if (errno != EAGAIN && errno != EINTR)
			return fail_socket(n, errno, err);
	}
}

int dlk_net_quiet(const struct dlk_net *n)
{
	char byte;

	return recv(n->fd, &byte, 1, MSG_PEEK) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

void dlk_net_close(struct dlk_net *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
