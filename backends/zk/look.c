/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/look.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/tcp.h"
#include "core/net/address.h"
#include "core/net/resolver.h"

enum { SLICE_MS = 20 }; /* until the next look at a cancel */

static int fail(const struct zk_look *l, const char *what,
		struct dlk_error *why)
{
	return dlk_fail(why, DLOCK_EUNREACHABLE, "%s: %s", l->peer, what);
}

/* Wait for an event; 0: `until` came first. */
static int await(const struct zk_look *l, short event, dlk_time until)
{
	struct pollfd p = { .fd = l->fd, .events = event };
	dlk_time left;

	while ((left = dlk_deadline(until) - dlk_now()) > 0) {
		dlk_time ms = left / DLK_MS + 1;

		if (poll(&p, 1, ms < SLICE_MS ? (int)ms : SLICE_MS) > 0)
			return 1;
	}
	return 0;
}

static int fail_connect(struct zk_look *l, int errnum, struct dlk_error *why)
{
	l->refused_by = errnum;
	if (errnum == EMFILE || errnum == ENFILE)
		return dlki_system(why, errnum, l->peer);
	return fail(l, dlki_errno_text(errnum), why);
}

static int connected(struct zk_look *l, dlk_time until, struct dlk_error *why)
{
	socklen_t len = sizeof(int);
	int errnum = 0;

	if (!await(l, POLLOUT, until))
		return fail(l, "not connected in time", why);
	if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
		errnum = errno;
	if (errnum == 0 && dlki_tcp_is_echo(l->fd))
		errnum = ECONNREFUSED;
	return errnum == 0 ? 0 : fail_connect(l, errnum, why);
}

static int connect_to(struct zk_look *l, const struct dlki_address *to,
		      dlk_time until, struct dlk_error *why)
{
	int rc;

	l->refused_by = 0;
	l->fd = socket(to->to.any.sa_family,
		       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return fail_connect(l, errno, why);
	/* Interrupted or not, the kernel goes on connecting. */
	if (connect(l->fd, &to->to.any, to->len) < 0 && errno != EINPROGRESS &&
	    errno != EINTR)
		rc = fail_connect(l, errno, why);
	else
		rc = connected(l, until, why);
	if (rc != 0)
		dlki_zk_look_end(l);
	return rc;
}

int dlki_zk_look_begin(struct zk_look *l, const char *host, uint16_t port,
		       dlk_time until, struct dlk_error *why)
{
	struct dlki_found found;
	int rc;

	dlki_address_text_of(host, port, l->peer);
	rc = dlki_resolve(&found, host, port, l->resolves, until, why);
	if (rc != 0)
		return rc;
	rc = DLOCK_EUNREACHABLE;
	for (size_t i = 0; i < found.n && rc != 0; i++) {
		dlk_time now = dlk_now();
		dlk_time left = (until - now) / (dlk_time)(found.n - i);

		rc = connect_to(l, &found.v[i], now + left, why);
	}
	return rc;
}

int dlki_zk_look_ask(const struct zk_look *l, const void *data, size_t len,
		     struct dlk_error *why)
{
	if (send(l->fd, data, len, MSG_NOSIGNAL) < 0)
		return fail(l, dlki_errno_text(errno), why);
	return 0;
}

int dlki_zk_look_hear(const struct zk_look *l, void *data, size_t size,
		      size_t *got, dlk_time until, struct dlk_error *why)
{
	ssize_t n;

	if (!await(l, POLLIN, until))
		return fail(l, "no answer in time", why);
	n = recv(l->fd, data, size, 0);
	if (n < 0)
		return fail(l, dlki_errno_text(errno), why);
	if (n == 0)
		return fail(l, "the connection was closed", why);
	*got = (size_t)n;
	return 0;
}

int dlki_zk_look_is_quiet(const struct zk_look *l)
{
	char byte;

	return recv(l->fd, &byte, 1, MSG_PEEK) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

void dlki_zk_look_end(struct zk_look *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
