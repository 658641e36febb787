/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/drive.h"
#include "backends/zk/client.h"
#include "backends/zk/conn.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <dlock/backend.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MOST_PACKETS 64 /* to take in at once */

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int change_set(const struct zk_drive *d, int op, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(d->set_fd, op, fd, &ev);
}

static int make_descriptors(struct zk_drive *d)
{
	d->set_fd = epoll_create1(EPOLL_CLOEXEC);
	d->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return d->set_fd < 0 || d->wake_fd < 0 ? -1 : 0;
}

void dlki_zk_drive_init(struct zk_session *s)
{
	struct zk_drive *d = &s->drive;

	d->set_fd = d->wake_fd = d->sock = -1;
	d->due = DLK_FOREVER;
}

int dlki_zk_drive_open(struct zk_session *s, struct dlk_error *err)
{
	if (make_descriptors(&s->drive) < 0)
		return dlki_system(err, errno, "making descriptors");
	return 0;
}

void dlki_zk_drive_free(struct zk_session *s)
{
	close_if_open(&s->drive.sock);
	close_if_open(&s->drive.set_fd);
	close_if_open(&s->drive.wake_fd);
}

static void rouse(struct zk_drive *d)
{
	if (!d->reading || d->roused)
		return;
	d->roused = 1;
	eventfd_write(d->wake_fd, 1);
}

/* ---- The set ------------------------------------------------------------- */

/* While threads wait for replies, no other thread need hear of the socket. */
static void list_socket(struct zk_drive *d)
{
	uint32_t events = d->reading || d->waiting ? 0 : d->wants;

	if (d->sock < 0 || d->listed == events)
		return;
	if (change_set(d, EPOLL_CTL_MOD, d->sock, events) == 0)
		d->listed = events;
}

/*
 * The set has a duplicate, because the library closes the socket without a
 * word.  A closed socket stays in a set while a child of ours has it open, and
 * cannot be taken out any more.
 */
static void take_socket(struct zk_session *s, const struct zk_conn *c, int sock)
{
	struct zk_drive *d = &s->drive;

	d->sock = fcntl(sock, F_DUPFD_CLOEXEC, 3);
	if (d->sock < 0)
		return;
	d->conn = c;
	d->listed = 0;
	if (change_set(d, EPOLL_CTL_ADD, d->sock, 0) < 0)
		close_if_open(&d->sock);
	if (d->waiting)
		pthread_cond_signal(&d->waiting->done);
	pthread_cond_broadcast(&s->changed);
}

static void drop_socket(struct zk_drive *d)
{
	if (d->sock < 0)
		return;
	(void)change_set(d, EPOLL_CTL_DEL, d->sock, 0);
	close_if_open(&d->sock);
	rouse(d);
}

/* ---- The handle ---------------------------------------------------------- */

static int has_socket(const struct zk_conn *c)
{
	int state = zoo_state(c->zh);

	return state == ZOO_CONNECTING_STATE ||
	       state == ZOO_ASSOCIATING_STATE || state == ZOO_CONNECTED_STATE;
}

/* To look early is harmless, and saves setting the time for each request. */
static void set_due(struct zk_session *s, dlk_time due)
{
	if (due < s->drive.due)
		s->drive.due = due;
	dlki_zk_timer_set(s, s->drive.due);
}

/* Ask the library for the events it waits for.  The library also connects and
 * sends pings here. */
static void ask_handle(struct zk_session *s, struct zk_conn *c)
{
	struct zk_drive *d = &s->drive;
	int sock = -1, interest = 0, rc;
	struct timeval in = { 0 };
	uint32_t wants = 0;

	c->asked = 1;
	rc = zookeeper_interest(c->zh, &sock, &interest, &in);
	if (rc != ZOK || !has_socket(c))
		return;
	if (d->sock < 0)
		take_socket(s, c, sock);
	if (interest & ZOOKEEPER_READ)
		wants |= EPOLLIN;
	if (interest & ZOOKEEPER_WRITE)
		wants |= EPOLLOUT;
	if (wants != d->wants)
		rouse(d);
	d->wants = wants;
	list_socket(d);
	set_due(s, dlk_now() + in.tv_sec * 1000 * DLK_MS +
			   in.tv_usec * (DLK_MS / 1000));
}

/* A handle has a single connection, to a single address.  When the connection
 * has failed, or ended, another handle goes on: to connect again, the library
 * would have to resolve a name, and would send requests left unsent before. */
static void judge_handle(struct zk_session *s, struct zk_conn *c)
{
	if (has_socket(c) && s->drive.sock >= 0)
		return;
	drop_socket(&s->drive);
	c->ended(c);
	pthread_cond_broadcast(&s->changed);
}

void dlki_zk_drive_refresh(struct zk_session *s)
{
	struct zk_drive *d = &s->drive;
	struct zk_conn *c = s->conn;

	if (d->taking_in)
		return;
	if (d->conn != c)
		drop_socket(d);
	if (!c || c->lost || c->failed || c->state == ZK_EXPIRED ||
	    c->state == ZK_DENIED) {
		drop_socket(d);
		return;
	}
	if (!c->asked || has_socket(c))
		ask_handle(s, c);
	judge_handle(s, c);
}

/* ---- Reading ------------------------------------------------------------- */

static int events_of(short revents)
{
	int events = 0;

	if (revents & (POLLIN | POLLERR | POLLHUP))
		events |= ZOOKEEPER_READ;
	if (revents & (POLLOUT | POLLERR | POLLHUP))
		events |= ZOOKEEPER_WRITE;
	return events;
}

static short poll_events(const struct zk_drive *d)
{
	return (short)((d->wants & EPOLLIN ? POLLIN : 0) |
		       (d->wants & EPOLLOUT ? POLLOUT : 0));
}

static void take_in(struct zk_session *s, int events, int most)
{
	struct zk_conn *c = s->conn;

	s->drive.taking_in = 1;
	while (most-- > 0 && events && zookeeper_process(c->zh, events) == ZOK)
		events = c->state == ZK_UP ? ZOOKEEPER_READ : 0;
	s->drive.taking_in = 0;
	dlki_zk_drive_refresh(s);
}

/* Whether the socket is ready need not be asked to read, but to write. */
void dlki_zk_drive_now(struct zk_session *s)
{
	struct zk_drive *d = &s->drive;
	struct pollfd fd = { .fd = d->sock, .events = poll_events(d) };
	int events = 0;

	if (d->reading || d->sock < 0 || !s->conn || d->conn != s->conn)
		events = 0;
	else if (s->conn->state == ZK_UP && d->wants == EPOLLIN)
		events = ZOOKEEPER_READ;
	else if (poll(&fd, 1, 0) > 0)
		events = events_of(fd.revents);
	if (events)
		take_in(s, events, MOST_PACKETS);
	else
		dlki_zk_drive_refresh(s);
}

dlk_time dlki_zk_drive_due(struct zk_session *s)
{
	if (s->drive.due <= dlk_now()) {
		s->drive.due = DLK_FOREVER;
		dlki_zk_drive_now(s);
	}
	return s->drive.due;
}

void dlki_zk_pump(struct dlk_session *base)
{
	struct zk_session *s = dlki_zk_session_of(base);

	pthread_mutex_lock(&s->mu);
	dlki_zk_drive_now(s);
	pthread_mutex_unlock(&s->mu);
}

static void poll_unlocked(struct zk_session *s, struct pollfd fds[2],
			  dlk_time until)
{
	dlk_time left = until - dlk_now();
	struct timespec ts = { 0 };

	if (left > 0) {
		ts.tv_sec = left / 1000000000;
		ts.tv_nsec = left % 1000000000;
	}
	pthread_mutex_unlock(&s->mu);
	if (ppoll(fds, 2, &ts, NULL) <= 0)
		fds[0].revents = 0;
	pthread_mutex_lock(&s->mu);
}

static void read_socket(struct zk_session *s, dlk_time until)
{
	struct zk_drive *d = &s->drive;
	const struct zk_conn *c = s->conn;
	struct pollfd fds[2] = { { .fd = d->sock, .events = poll_events(d) },
				 { .fd = d->wake_fd, .events = POLLIN } };
	eventfd_t ignored;

	d->reading = 1;
	list_socket(d);
	poll_unlocked(s, fds, until);
	d->reading = 0;
	if (d->roused)
		eventfd_read(d->wake_fd, &ignored);
	d->roused = 0;
	if (fds[0].revents && s->conn == c && d->conn == c &&
	    d->sock == fds[0].fd)
		take_in(s, events_of(fds[0].revents), 1);
	else
		dlki_zk_drive_refresh(s);
}

static void wait_for_turn(struct zk_session *s, struct zk_reply_wait *wait,
			  dlk_time until)
{
	struct zk_reply_wait **at = &s->drive.waiting;

	while (*at)
		at = &(*at)->next;
	wait->next = NULL;
	*at = wait;
	dlk_cond_wait(&wait->done, &s->mu, until);
	for (at = &s->drive.waiting; *at != wait;)
		at = &(*at)->next;
	*at = wait->next;
}

void dlki_zk_drive_wait(struct zk_session *s, struct zk_reply_wait *wait,
			dlk_time until)
{
	if (!s->drive.reading && s->drive.sock >= 0) {
		read_socket(s, until);
	} else if (wait) {
		wait_for_turn(s, wait, until);
	} else {
		s->drive.idle++;
		dlk_cond_wait(&s->changed, &s->mu, until);
		s->drive.idle--;
	}
}

void dlki_zk_drive_leave(struct zk_session *s)
{
	struct zk_drive *d = &s->drive;

	if (d->reading)
		return;
	if (d->waiting) {
		pthread_cond_signal(&d->waiting->done);
		return;
	}
	list_socket(d);
	if (d->idle > 0)
		pthread_cond_broadcast(&s->changed);
}

/* The reading thread may wait for a request made over an earlier connection,
 * which fails now. */
void dlki_zk_drive_done(struct zk_session *s, struct zk_reply_wait *wait)
{
	pthread_cond_signal(&wait->done);
	rouse(&s->drive);
}

void dlki_zk_drive_rouse(struct zk_session *s)
{
	struct zk_reply_wait *wait = s->drive.waiting;

	for (; wait; wait = wait->next) {
		if (dlki_patience_cancelled(wait->patience))
			pthread_cond_signal(&wait->done);
	}
	rouse(&s->drive);
	pthread_cond_broadcast(&s->changed);
}
