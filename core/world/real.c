/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/real.h"

#include <dlock/backend.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/tcp.h"

/* The place of a set's eventfd. */
#define KICKED UINT32_MAX

struct member {
	int fd; /* -1: free */
	enum dlki_set set;
	struct dlki_tag tag;
};

struct real {
	struct dlki_world base;
	int set[DLKI_SETS];
	int kick[DLKI_SETS];

	/* Under the engine's mutex. */
	struct member *members;
	size_t n_members;
};

static uint64_t packed(struct dlki_tag tag)
{
	return (uint64_t)tag.place << 32 | tag.generation;
}

static int control(const struct real *r, enum dlki_set set, int op, int fd,
		   uint32_t events, struct dlki_tag tag)
{
	struct epoll_event ev = { .events = events, .data.u64 = packed(tag) };

	return epoll_ctl(r->set[set], op, fd, &ev) < 0 ? -errno : 0;
}

/* ---- Sockets ------------------------------------------------------------- */

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

static ssize_t real_read(struct dlki_world *w, int fd, void *out, size_t size)
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
static ssize_t real_await(struct dlki_world *w, int fd, void *out, size_t size)
{
	ssize_t n = recv(fd, out, size, 0);

	(void)w;
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	return n;
}

static ssize_t real_write(struct dlki_world *w, int fd, const void *bytes,
			  size_t size)
{
	ssize_t n;

	(void)w;
	do
		n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* ---- Members ------------------------------------------------------------- */

static struct member *find(const struct real *r, int fd)
{
	for (size_t i = 0; i < r->n_members; i++) {
		if (r->members[i].fd == fd)
			return &r->members[i];
	}
	return NULL;
}

static int add(struct real *r, int fd, enum dlki_set set, struct dlki_tag tag,
	       uint32_t events)
{
	struct member *m = find(r, -1);
	int rc;

	if (!m) {
		m = realloc(r->members, (r->n_members + 1) * sizeof(*m));
		if (!m)
			return -ENOMEM;
		r->members = m;
		m += r->n_members++;
		m->fd = -1;
	}
	rc = control(r, set, EPOLL_CTL_ADD, fd, events, tag);
	if (rc == 0)
		*m = (struct member){ fd, set, tag };
	return rc;
}

static void drop(const struct real *r, struct member *m)
{
	(void)control(r, m->set, EPOLL_CTL_DEL, m->fd, 0, m->tag);
	m->fd = -1;
}

/* ---- The table ----------------------------------------------------------- */

static dlk_time real_now(struct dlki_world *w)
{
	(void)w;
	return dlk_now();
}

static int real_chance(struct dlki_world *w, void *out, size_t size)
{
	(void)w;
	return dlk_random(out, size, NULL) == 0 ? 0 : -EIO;
}

static int real_connect(struct dlki_world *w, const struct dlki_address *to,
			enum dlki_set set, struct dlki_tag tag)
{
	struct real *r = (struct real *)w;
	int fd = dlki_socket_open(to);
	int rc;

	if (fd < 0)
		return fd;
	rc = dlki_socket_connect(fd, to);
	/* After connect(): a socket that is not connected is ready for
	 * everything. */
	if (rc == 0)
		rc = add(r, fd, set, tag,
			 EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Report WRITABLE or not.  The change looks at the socket anew: no event is
 * lost in between. */
static void real_want(struct dlki_world *w, int sock, int writable)
{
	struct real *r = (struct real *)w;
	const struct member *m = find(r, sock);

	(void)control(r, m->set, EPOLL_CTL_MOD, sock,
		      EPOLLIN | EPOLLRDHUP | EPOLLET |
			      (writable ? (uint32_t)EPOLLOUT : 0),
		      m->tag);
}

static void real_close(struct dlki_world *w, int sock)
{
	struct real *r = (struct real *)w;

	drop(r, find(r, sock));
	close(sock);
}

static void real_kick(struct dlki_world *w, enum dlki_set set)
{
	struct real *r = (struct real *)w;

	(void)eventfd_write(r->kick[set], 1);
}

/* ---- Waiting ------------------------------------------------------------- */

static int wait_set(int set, struct epoll_event *ev, int room, dlk_time ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };
	int n = epoll_pwait2(set, ev, room, &ts, NULL);

	/* Linux before 5.11; or a container's filter of system calls that does
	 * not know the call. */
	if (n < 0 && (errno == ENOSYS || errno == EPERM))
		n = epoll_wait(set, ev, room,
			       (int)((ns + DLK_MS - 1) / DLK_MS));
	return n;
}

static unsigned int event_bits(uint32_t events)
{
	unsigned int bits = 0;

	if (events & EPOLLIN)
		bits |= DLKI_READABLE;
	if (events & EPOLLOUT)
		bits |= DLKI_WRITABLE;
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		bits |= DLKI_READABLE | DLKI_ENDED;
	if (events & (EPOLLHUP | EPOLLERR))
		bits |= DLKI_WRITABLE;
	return bits;
}

/* Move the events of a set into `out`; take a kick in here. */
static int take(const struct real *r, enum dlki_set set, dlk_time ns,
		struct dlki_event *out, int room)
{
	struct epoll_event ev[16];
	int n, taken = 0;

	n = wait_set(r->set[set], ev, room < 16 ? room : 16, ns);
	for (int i = 0; i < n; i++) {
		struct dlki_tag tag = { (uint32_t)(ev[i].data.u64 >> 32),
					(uint32_t)ev[i].data.u64 };
		eventfd_t times;

		if (tag.place == KICKED)
			(void)eventfd_read(r->kick[set], &times);
		else
			out[taken++] = (struct dlki_event){
				tag, event_bits(ev[i].events)
			};
	}
	return taken;
}

static void wait_for_any(const struct real *r, dlk_time ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };
	struct pollfd p[DLKI_SETS];

	for (unsigned int set = 0; set < DLKI_SETS; set++)
		p[set] = (struct pollfd){ .fd = r->set[set], .events = POLLIN };
	if (ns > 0)
		(void)ppoll(p, DLKI_SETS, &ts, NULL);
}

static int real_wait(struct dlki_world *w, unsigned int sets,
		     struct dlki_event *out, int room, dlk_time until)
{
	struct real *r = (struct real *)w;
	dlk_time now = real_now(w);
	dlk_time ns = until > now ? until - now : 0;
	int n = 0;

	if (now == DLK_FOREVER || ns > DLKI_SLICE_NS)
		ns = DLKI_SLICE_NS;
	if (sets == DLKI_ALL_SETS) {
		wait_for_any(r, ns);
		ns = 0;
	}
	for (unsigned int set = 0; set < DLKI_SETS && n < room; set++) {
		if (sets & DLKI_BIT(set))
			n += take(r, set, ns, out + n, room - n);
	}
	return n;
}

static const struct dlki_world_type real_type = {
	.now = real_now,
	.chance = real_chance,
	.connect = real_connect,
	.finish = dlki_socket_finish,
	.read = real_read,
	.await = real_await,
	.write = real_write,
	.want = real_want,
	.close = real_close,
	.wait = real_wait,
	.kick = real_kick,
};

/* ---- Open and close ------------------------------------------------------ */

static int open_set(struct real *r, enum dlki_set set)
{
	r->set[set] = epoll_create1(EPOLL_CLOEXEC);
	r->kick[set] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->set[set] < 0 || r->kick[set] < 0)
		return -errno;
	return control(r, set, EPOLL_CTL_ADD, r->kick[set], EPOLLIN,
		       (struct dlki_tag){ KICKED, 0 });
}

struct dlki_world *dlki_real_new(struct dlk_error *err)
{
	struct real *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r) {
		dlki_nomem(err);
		return NULL;
	}
	r->base.type = &real_type;
	for (unsigned int set = 0; set < DLKI_SETS; set++)
		r->set[set] = r->kick[set] = -1;
	for (unsigned int set = 0; set < DLKI_SETS && rc == 0; set++)
		rc = open_set(r, set);
	if (rc == 0)
		return &r->base;
	dlki_system(err, -rc, "epoll");
	dlki_real_free(&r->base);
	return NULL;
}

void dlki_real_free(struct dlki_world *w)
{
	struct real *r = (struct real *)w;

	if (!r)
		return;
	for (unsigned int set = 0; set < DLKI_SETS; set++) {
		if (r->kick[set] >= 0)
			close(r->kick[set]);
		if (r->set[set] >= 0)
			close(r->set[set]);
	}
	free(r->members);
	free(r);
}

int dlki_real_fd(const struct dlki_world *w, enum dlki_set set)
{
	return ((const struct real *)w)->set[set];
}
