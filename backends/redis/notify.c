/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/notify.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/redis.h"
#include "backends/redis/subscribe.h"
#include "backends/redis/waiters.h"

enum { PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 2000 };

#define QUIET_NS (5000 * DLK_MS)

/* ---- The descriptors ----------------------------------------------------- */

static int add_to_set(const struct redis_session *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(s->set_fd, EPOLL_CTL_ADD, fd, &ev);
}

/* 0: never. */
static void set_timer(const struct redis_session *s, dlk_time at)
{
	const struct itimerspec when = {
		.it_value = { at / 1000000000, at % 1000000000 },
	};

	(void)timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void close_descriptors(struct redis_session *s)
{
	if (s->timer_fd >= 0)
		close(s->timer_fd);
	if (s->set_fd >= 0)
		close(s->set_fd);
	s->timer_fd = s->set_fd = -1;
}

/* With mu held: have the core listen, from the first wait on. */
static int start_listening(struct redis_session *s)
{
	struct dlk_error err;

	s->set_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_BOOTTIME,
				     TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->set_fd >= 0 && s->timer_fd >= 0 &&
	    add_to_set(s, s->timer_fd) == 0 &&
	    dlk_listen(&s->base, s->set_fd, &err) == 0)
		return 0;
	close_descriptors(s);
	return -1;
}

/* ---- Up and down --------------------------------------------------------- */

/* With mu held.  The next try comes after a pause. */
static void pause_then_open(struct redis_session *s)
{
	set_timer(s, dlk_now() + s->pause_ms * DLK_MS);
	s->pause_ms = s->pause_ms < PAUSE_MAX_MS / 2 ? 2 * s->pause_ms :
						       PAUSE_MAX_MS;
	s->state = RD_NOTIFY_DOWN;
	pthread_cond_broadcast(&s->changed);
}

static void log_down(struct redis_session *s, const struct dlk_error *err)
{
	if (!s->stop)
		dlk_log(&s->base, s->told++ ? 3 : 1,
			"waiters poll more often: %s", err->text);
}

/* With mu held.  Waiters learn what was published before they were heard. */
static void go_up(struct redis_session *s, struct redis_conn *c)
{
	struct dlk_error err;

	s->pause_ms = PAUSE_MIN_MS;
	s->told = 0;
	s->asked = 0;
	s->heard = dlk_now();
	set_timer(s, s->heard + QUIET_NS);
	s->conn = c;
	s->state = RD_NOTIFY_UP;
	pthread_cond_broadcast(&s->changed);
	dlki_redis_waiters_wake_all(s);
	/* A fail-over since it was opened has not hung it up. */
	if (s->stop || dlki_redis_conn_current(s, c, &err) != 0)
		dlk_net_hang_up(&c->net);
}

static void on_subscribed(struct redis_session *s, struct redis_conn *c,
			  struct dlk_error *err)
{
	int up = 0;

	pthread_mutex_lock(&s->mu);
	if (c && add_to_set(s, c->net.fd) == 0)
		up = 1;
	else if (c)
		dlk_fail(err, DLOCK_ESYSTEM, "%s: cannot listen", c->net.peer);
	if (up)
		go_up(s, c);
	else
		pause_then_open(s);
	pthread_mutex_unlock(&s->mu);
	if (up)
		return;
	if (c)
		dlki_redis_conn_close(c);
	log_down(s, err);
}

/* The connection is out of the set before it is closed: a forked child may
 * keep the socket open, and the set would not forget it then. */
static void go_down(struct redis_session *s, struct redis_conn *c,
		    const struct dlk_error *err)
{
	pthread_mutex_lock(&s->mu);
	(void)epoll_ctl(s->set_fd, EPOLL_CTL_DEL, c->net.fd, NULL);
	s->conn = NULL;
	pause_then_open(s);
	pthread_mutex_unlock(&s->mu);
	dlki_redis_conn_close(c);
	log_down(s, err);
}

/* With mu held. */
static void open_channel(struct redis_session *s)
{
	if (s->stop)
		return;
	s->state = RD_NOTIFY_OPENING;
	if (dlki_redis_subscribe(s, on_subscribed) != 0)
		pause_then_open(s);
}

/* ---- Listening ----------------------------------------------------------- */

/* Pass on the notifications that are whole so far. */
static int deliver_notifications(struct redis_session *s, struct redis_conn *c,
				 struct dlk_error *err)
{
	for (;;) {
		const struct redis_reply *reply;
		struct redis_notification n;
		int rc = dlki_redis_reader_next(&c->reader, &reply, err);

		if (rc == 1)
			rc = dlki_redis_conn_current(s, c, err);
		else if (rc == 0)
			return 0;
		if (rc != 0)
			return rc;
		if (dlki_redis_notification(reply, &n))
			dlki_redis_waiters_notify(s, &n);
	}
}

/* *got: how many bytes have come, if any. */
static int take_in(struct redis_session *s, struct redis_conn *c, size_t *got,
		   struct dlk_error *err)
{
	char bytes[4096];
	ssize_t n = recv(c->net.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	int rc = 0;

	*got = n > 0 ? (size_t)n : 0;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) /* at once, with what is wrong */
		rc = dlk_net_recv(&c->net, bytes, sizeof(bytes), got,
				  dlk_now() + DLK_MS, err);
	if (rc != 0)
		return rc;
	s->heard = dlk_now();
	s->asked = 0;
	rc = dlki_redis_reader_feed(&c->reader, bytes, *got, err);
	return rc != 0 ? rc : deliver_notifications(s, c, err);
}

/* When nothing came for QUIET_NS, a PING asks whether the server is still
 * there. */
static int ask_if_quiet(struct redis_session *s, struct redis_conn *c,
			struct dlk_error *err)
{
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";
	const ssize_t size = sizeof(ping) - 1;
	dlk_time now = dlk_now();

	if (now < s->heard + QUIET_NS) {
		set_timer(s, s->heard + QUIET_NS);
		return 0;
	}
	if (s->asked || send(c->net.fd, ping, (size_t)size,
			     MSG_NOSIGNAL | MSG_DONTWAIT) != size)
		return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: no answer",
				c->net.peer);
	s->asked = 1;
	set_timer(s, now + QUIET_NS);
	return 0;
}

static int timer_rang(const struct redis_session *s)
{
	uint64_t times;

	return read(s->timer_fd, &times, sizeof(times)) > 0;
}

static struct redis_conn *connection(struct redis_session *s)
{
	struct redis_conn *c;

	pthread_mutex_lock(&s->mu);
	c = s->conn;
	pthread_mutex_unlock(&s->mu);
	return c;
}

/* Only here a connection that is up comes to its end. */
void dlki_redis_pump(struct dlk_session *base)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_conn *c = connection(s);
	struct dlk_error err;
	size_t got = 0;
	int rc = 0;

	if (c)
		rc = take_in(s, c, &got, &err);
	if (rc == 0 && got == 0 && timer_rang(s)) {
		if (c) {
			rc = ask_if_quiet(s, c, &err);
		} else {
			pthread_mutex_lock(&s->mu);
			if (s->state == RD_NOTIFY_DOWN)
				open_channel(s);
			pthread_mutex_unlock(&s->mu);
		}
	}
	if (rc != 0)
		go_down(s, c, &err);
}

/* ---- The session's side -------------------------------------------------- */

int dlki_redis_notify_init(struct redis_session *s, struct dlk_error *err)
{
	unsigned char id[16];
	int n;

	s->set_fd = s->timer_fd = -1;
	s->pause_ms = PAUSE_MIN_MS;
	if (dlk_random(id, sizeof(id), err) != 0)
		return err->code;
	n = snprintf(s->channel, sizeof(s->channel),
		     "%s:inbox:", dlk_param_text(s->base.uri, "prefix"));
	for (size_t i = 0; i < sizeof(id); i++)
		n += snprintf(s->channel + n, 3, "%02x", id[i]);
	if (pthread_mutex_init(&s->mu, NULL) != 0)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	dlk_cond_init(&s->changed);
	return 0;
}

void dlki_redis_notify_free(struct redis_session *s)
{
	pthread_mutex_lock(&s->mu);
	s->stop = 1;
	pthread_mutex_unlock(&s->mu);
	dlki_redis_subscribe_end(s);
	if (s->set_fd >= 0)
		(void)dlk_listen(&s->base, -1, NULL);
	if (s->conn)
		dlki_redis_conn_close(s->conn);
	close_descriptors(s);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mu);
}

int dlki_redis_notify_up(struct redis_session *s, dlk_time deadline)
{
	int up;

	pthread_mutex_lock(&s->mu);
	if (s->state == RD_NOTIFY_NONE && start_listening(s) == 0)
		open_channel(s);
	while (s->state == RD_NOTIFY_OPENING &&
	       dlk_now() < dlk_deadline(deadline))
		dlk_cond_wait(&s->changed, &s->mu, dlk_wait_slice(deadline, 1));
	up = s->state == RD_NOTIFY_UP;
	pthread_mutex_unlock(&s->mu);
	return up;
}

void dlki_redis_notify_server_changed(struct redis_session *s)
{
	pthread_mutex_lock(&s->mu);
	if (s->conn)
		dlk_net_hang_up(&s->conn->net);
	dlki_redis_waiters_void_grants(s);
	pthread_mutex_unlock(&s->mu);
}
