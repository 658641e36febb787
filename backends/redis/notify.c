/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/notify.h"

#include <dlock/backend_net.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "backends/redis/answer.h"
#include "backends/redis/conn.h"
#include "backends/redis/fault.h"
#include "backends/redis/redis.h"
#include "backends/redis/waiters.h"

enum { QUIET_MS = 5000, PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 2000 };

static dlk_time step_deadline(const struct redis_session *s)
{
	return dlk_now() + s->step_ms * DLK_MS;
}

/* ---- Listening ----------------------------------------------------------- */

/* What comes within QUIET_MS, if anything.  A recv() that waits returns sooner
 * than a poll() and then a recv(). */
static int recv_some(struct redis_session *s, struct redis_conn *c, char *bytes,
		     size_t size, size_t *got, struct dlk_error *err)
{
	ssize_t n;

	do {
		n = recv(c->net.fd, bytes, size, 0);
	} while (n < 0 && errno == EINTR);
	*got = n > 0 ? (size_t)n : 0;
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return 0;
	return dlk_net_recv(&c->net, bytes, size, got, step_deadline(s), err);
}

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

/* Until the connection fails, or dlki_redis_notify_free() hangs up.  When
 * nothing comes for QUIET_MS, a PING asks whether the server is still there. */
static int listen_until_failure(struct redis_session *s, struct redis_conn *c,
				struct dlk_error *err)
{
	const struct timeval quiet = { QUIET_MS / 1000, 0 };
	int pinged = 0;
	int rc = 0;

	if (setsockopt(c->net.fd, SOL_SOCKET, SO_RCVTIMEO, &quiet,
		       sizeof(quiet)) < 0)
		return dlk_fail(err, DLOCK_ESYSTEM, "%s: no time-out",
				c->net.peer);
	while (rc == 0) {
		char bytes[4096];
		size_t got;

		rc = recv_some(s, c, bytes, sizeof(bytes), &got, err);
		if (rc == 0 && got == 0) {
			static const char *const ping[] = { "PING" };

			if (pinged)
				return dlk_fail(err, DLOCK_EUNREACHABLE,
						"%s: no answer", c->net.peer);
			rc = dlki_redis_conn_send_argv(c, 1, ping,
						       step_deadline(s), err);
			pinged = 1;
			continue;
		}
		pinged = 0;
		if (rc == 0)
			rc = dlki_redis_reader_feed(&c->reader, bytes, got,
						    err);
		if (rc == 0)
			rc = deliver_notifications(s, c, err);
	}
	return rc;
}

static int check_subscribed(const struct redis_conn *c,
			    const struct redis_reply *reply,
			    struct dlk_error *err)
{
	int keep;

	if (reply->type == RD_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.peer,
					&keep, err);
	if (reply->type == RD_ARRAY && reply->len == 3 &&
	    reply->parts[0]->type == RD_STRING &&
	    strcmp(reply->parts[0]->text, "subscribe") == 0)
		return 0;
	return dlki_redis_conn_nonsense(c, err);
}

static struct redis_conn *open_subscribed(struct redis_session *s,
					  struct dlk_error *err)
{
	const char *const subscribe[] = { "SUBSCRIBE", s->channel };
	dlk_time deadline = step_deadline(s);
	struct redis_conn *c = dlki_redis_conn_open(s, &s->stop, deadline, err);
	const struct redis_reply *reply;
	int rc;

	if (!c)
		return NULL;
	rc = dlki_redis_conn_send_argv(c, 2, subscribe, deadline, err);
	if (rc == 0)
		rc = dlki_redis_conn_recv(c, &reply, deadline, err);
	if (rc == 0)
		rc = check_subscribed(c, reply, err);
	if (rc == 0)
		return c;
	dlki_redis_conn_close(c);
	return NULL;
}

/* ---- The thread ---------------------------------------------------------- */

/* With mu held. */
static void set_state(struct redis_session *s, enum redis_notify_state state,
		      struct redis_conn *c)
{
	s->state = state;
	s->conn = c;
	pthread_cond_broadcast(&s->changed);
}

/* With mu held, but not while it listens. */
static void serve_waiters(struct redis_session *s, struct redis_conn *c,
			  struct dlk_error *err)
{
	set_state(s, RD_NOTIFY_UP, c);
	dlki_redis_waiters_wake_all(s);
	if (s->stop || dlki_redis_conn_current(s, c, err) != 0)
		return;
	pthread_mutex_unlock(&s->mu);
	listen_until_failure(s, c, err);
	pthread_mutex_lock(&s->mu);
}

static void *notify_thread(void *arg)
{
	struct redis_session *s = arg;
	int64_t pause_ms = PAUSE_MIN_MS;
	int told = 0; /* that the server has not been heard since */
	struct dlk_error err;

	pthread_mutex_lock(&s->mu);
	while (!s->stop) {
		struct redis_conn *c;
		dlk_time until;

		pthread_mutex_unlock(&s->mu);
		c = open_subscribed(s, &err);
		pthread_mutex_lock(&s->mu);
		if (c) {
			pause_ms = PAUSE_MIN_MS;
			told = 0;
			serve_waiters(s, c, &err);
		}
		set_state(s, RD_NOTIFY_DOWN, NULL);
		if (s->stop && !c)
			break;
		pthread_mutex_unlock(&s->mu);
		if (c)
			dlki_redis_conn_close(c);
		if (!s->stop)
			dlk_log(&s->base, told++ ? 3 : 1,
				"waiters poll more often: %s", err.text);
		pthread_mutex_lock(&s->mu);
		until = dlk_now() + pause_ms * DLK_MS;
		while (!s->stop && dlk_now() < until)
			dlk_cond_wait(&s->changed, &s->mu, until);
		pause_ms = pause_ms < PAUSE_MAX_MS / 2 ? 2 * pause_ms :
							 PAUSE_MAX_MS;
		s->state = RD_NOTIFY_OPENING;
	}
	pthread_mutex_unlock(&s->mu);
	return NULL;
}

/* ---- The session's side -------------------------------------------------- */

int dlki_redis_notify_init(struct redis_session *s, struct dlk_error *err)
{
	unsigned char id[16];
	int n;

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
	if (s->conn)
		dlk_net_hang_up(&s->conn->net);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mu);
	if (s->started)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mu);
}

int dlki_redis_notify_up(struct redis_session *s, dlk_time deadline)
{
	int up;

	pthread_mutex_lock(&s->mu);
	if (!s->started) {
		s->started = dlk_thread(&s->thread, "dlock-notify",
					notify_thread, s) == 0;
		s->state = s->started ? RD_NOTIFY_OPENING : RD_NOTIFY_NONE;
	}
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
