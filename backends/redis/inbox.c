/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection a client hears what the server pushes: which look of which
 * ticket was granted.  What is missed while it is away is found by looking:
 * all who wait look again when it is back, and now and then in any case.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "backends/redis/fault.h"
#include "backends/redis/redis.h"
#include "core/cond.h"
#include "core/random.h"

enum { QUIET_MS = 5000, PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 2000 };

static struct redis_ticket **bucket(struct redis_session *s, const char *owner)
{
	uint32_t n = 2166136261u;

	/* Owners are random: a few digits tell them apart. */
	for (int i = 0; i < 8; i++)
		n = (n ^ (unsigned char)owner[i]) * 16777619u;
	return &s->waiting[n % REDIS_BUCKETS];
}

static void enlist(struct redis_session *s, struct redis_ticket *t)
{
	struct redis_ticket **head = bucket(s, t->base.claim.owner);

	t->next = *head;
	t->link = head;
	if (t->next)
		t->next->link = &t->next;
	*head = t;
	t->listed = 1;
}

static void strike(struct redis_ticket *t)
{
	if (!t->listed)
		return;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->listed = 0;
}

/* A pushed lease is a short one; with little left of it a look, which makes it
 * a whole one, is the better answer. */
static int worth(const struct redis_ticket *t)
{
	int64_t ttl_ms = t->base.session->ttl_ms;

	return t->pushed &&
	       dlk_now() < t->look_sent + (ttl_ms / 2 - ttl_ms / 8) * REDIS_MS;
}

int dlki_redis_inbox_look(struct redis_ticket *t, uint64_t *look)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	int granted;

	pthread_mutex_lock(&s->mu);
	granted = worth(t);
	if (granted) {
		t->base.token = t->pushed;
		t->base.since = t->look_sent;
		t->base.lease_ms = s->base.ttl_ms / 2;
		strike(t);
	} else {
		*look = ++t->look;
		t->look_sent = t->base.since;
		if (!t->listed && s->state != REDIS_INBOX_NONE)
			enlist(s, t);
	}
	t->pushed = 0;
	pthread_mutex_unlock(&s->mu);
	return granted;
}

void dlki_redis_inbox_forget(struct redis_ticket *t)
{
	struct redis_session *s = (struct redis_session *)t->base.session;

	pthread_mutex_lock(&s->mu);
	strike(t);
	t->pushed = 0;
	pthread_mutex_unlock(&s->mu);
}

/* ---- The thread ---------------------------------------------------------- */

static void deliver(struct redis_session *s, const struct redis_push *push)
{
	uint64_t id = 0;

	pthread_mutex_lock(&s->mu);
	for (struct redis_ticket *t = *bucket(s, push->owner); t; t = t->next) {
		if (strcmp(t->base.claim.owner, push->owner) != 0)
			continue;
		/* A later look will find what this one was granted. */
		if (t->look == push->look) {
			t->pushed = push->token;
			id = t->base.id;
		}
		break;
	}
	pthread_mutex_unlock(&s->mu);
	/* Not with mu held, which the waiter takes first of all. */
	if (id)
		dlk_wake(&s->base, id);
}

static dlk_time soon(const struct redis_session *s)
{
	return dlk_now() + s->step_ms * REDIS_MS;
}

static int ping(struct redis_session *s, struct redis_conn *c,
		struct dlk_error *err)
{
	struct redis_out o;
	int rc;

	dlki_redis_out_init(&o);
	dlki_redis_out_words(&o, 1);
	dlki_redis_out_text(&o, "PING");
	rc = dlki_redis_send(c, &o, soon(s), err);
	dlki_redis_out_free(&o);
	return rc;
}

/* What comes within QUIET_MS, if anything.  A recv() that waits itself hears it
 * sooner than a poll() before one. */
static int receive(struct redis_session *s, struct redis_conn *c, char *bytes,
		   size_t size, size_t *got, struct dlk_error *err)
{
	ssize_t n;

	do {
		n = recv(c->net.fd, bytes, size, 0);
	} while (n < 0 && errno == EINTR);
	*got = n > 0 ? (size_t)n : 0;
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return 0;
	return dlki_net_recv(&c->net, bytes, size, got, soon(s), err);
}

/* Until the connection fails, or dlki_redis_inbox_free() hangs up.  A quiet one
 * is asked whether it is still there. */
static int listen_on(struct redis_session *s, struct redis_conn *c,
		     struct dlk_error *err)
{
	const struct timeval quiet = { QUIET_MS / 1000, 0 };
	const struct redis_reply *reply;
	struct redis_push push;
	int asked = 0;
	int rc = 0;

	if (setsockopt(c->net.fd, SOL_SOCKET, SO_RCVTIMEO, &quiet,
		       sizeof(quiet)) < 0)
		return dlk_fail(err, DLOCK_ESYSTEM, "%s: no time-out",
				c->net.who);
	while (rc == 0) {
		char bytes[4096];
		size_t got;

		rc = receive(s, c, bytes, sizeof(bytes), &got, err);
		if (rc == 0 && got == 0) {
			if (asked)
				return dlk_fail(err, DLOCK_EUNREACHABLE,
						"%s: no answer", c->net.who);
			rc = ping(s, c, err);
			asked = 1;
			continue;
		}
		asked = 0;
		if (rc == 0)
			rc = dlki_redis_reader_feed(&c->reader, bytes, got,
						    err);
		while (rc == 0) {
			rc = dlki_redis_reader_next(&c->reader, &reply, err);
			if (rc == 0)
				break;
			if (rc == 1 && dlki_redis_push(reply, &push))
				deliver(s, &push);
			rc = rc == 1 ? 0 : rc;
		}
	}
	return rc;
}

static int confirmed(const struct redis_conn *c,
		     const struct redis_reply *reply, struct dlk_error *err)
{
	int keep;

	if (reply->type == REDIS_ERROR)
		return dlki_redis_fault(reply->text, reply->len, c->net.who,
					&keep, err);
	if (reply->type == REDIS_ARRAY && reply->len == 3 &&
	    reply->parts[0]->type == REDIS_STRING &&
	    strcmp(reply->parts[0]->text, "subscribe") == 0)
		return 0;
	return dlk_fail(err, DLOCK_EPROTO,
			"%s answered what we do not understand", c->net.who);
}

static struct redis_conn *subscribe(struct redis_session *s,
				    struct dlk_error *err)
{
	dlk_time deadline = soon(s);
	struct redis_conn *c = dlki_redis_conn_open(s, &s->stop, deadline, err);
	const struct redis_reply *reply;
	struct redis_out o;
	int rc;

	if (!c)
		return NULL;
	dlki_redis_out_init(&o);
	dlki_redis_out_words(&o, 2);
	dlki_redis_out_text(&o, "SUBSCRIBE");
	dlki_redis_out_text(&o, s->inbox);
	rc = dlki_redis_send(c, &o, deadline, err);
	dlki_redis_out_free(&o);
	if (rc == 0)
		rc = dlki_redis_hear(c, &reply, deadline, err);
	if (rc == 0)
		rc = confirmed(c, reply, err);
	if (rc == 0)
		return c;
	dlki_redis_conn_close(c);
	return NULL;
}

/* With mu held. */
static void set_state(struct redis_session *s, enum redis_inbox_state state,
		      struct redis_conn *c)
{
	s->state = state;
	s->conn = c;
	pthread_cond_broadcast(&s->changed);
}

static void wake_all(struct redis_session *s)
{
	for (size_t i = 0; i < REDIS_BUCKETS; i++) {
		for (struct redis_ticket *t = s->waiting[i]; t; t = t->next)
			dlk_wake(&s->base, t->base.id);
	}
}

static void *run(void *arg)
{
	struct redis_session *s = arg;
	int64_t pause_ms = PAUSE_MIN_MS;
	struct dlk_error err;

	pthread_mutex_lock(&s->mu);
	while (!s->stop) {
		struct redis_conn *c;
		dlk_time until;

		pthread_mutex_unlock(&s->mu);
		c = subscribe(s, &err);
		pthread_mutex_lock(&s->mu);
		if (c) {
			pause_ms = PAUSE_MIN_MS;
			set_state(s, REDIS_INBOX_UP, c);
			wake_all(s);
			if (!s->stop) {
				pthread_mutex_unlock(&s->mu);
				listen_on(s, c, &err);
				pthread_mutex_lock(&s->mu);
			}
		}
		set_state(s, REDIS_INBOX_DOWN, NULL);
		if (s->stop && !c)
			break;
		pthread_mutex_unlock(&s->mu);
		if (c)
			dlki_redis_conn_close(c);
		if (!s->stop)
			dlk_log(&s->base, 1, "waiters look more often: %s",
				err.text);
		pthread_mutex_lock(&s->mu);
		until = dlk_now() + pause_ms * REDIS_MS;
		while (!s->stop && dlk_now() < until)
			dlki_wait(&s->changed, &s->mu, until);
		pause_ms = pause_ms < PAUSE_MAX_MS / 2 ? 2 * pause_ms :
							 PAUSE_MAX_MS;
		s->state = REDIS_INBOX_OPENING;
	}
	pthread_mutex_unlock(&s->mu);
	return NULL;
}

/* ---- The session's side -------------------------------------------------- */

int dlki_redis_inbox_init(struct redis_session *s, struct dlk_error *err)
{
	unsigned char id[16];
	int n;

	if (dlki_random(id, sizeof(id), err) != 0)
		return err->code;
	n = snprintf(s->inbox, sizeof(s->inbox),
		     "%s:inbox:", dlk_param_text(s->base.uri, "prefix"));
	for (size_t i = 0; i < sizeof(id); i++)
		n += snprintf(s->inbox + n, 3, "%02x", id[i]);
	if (pthread_mutex_init(&s->mu, NULL) != 0)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	dlki_cond_init(&s->changed);
	return 0;
}

void dlki_redis_inbox_free(struct redis_session *s)
{
	pthread_mutex_lock(&s->mu);
	s->stop = 1;
	if (s->conn)
		dlki_net_hang_up(&s->conn->net);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mu);
	if (s->started)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mu);
}

int dlki_redis_inbox_up(struct redis_session *s, dlk_time deadline)
{
	int up;

	pthread_mutex_lock(&s->mu);
	if (!s->started) {
		s->started = dlk_thread(&s->thread, "dlock-inbox", run, s) == 0;
		s->state = s->started ? REDIS_INBOX_OPENING : REDIS_INBOX_NONE;
	}
	while (s->state == REDIS_INBOX_OPENING && dlk_now() < deadline)
		dlki_wait(&s->changed, &s->mu, deadline);
	up = s->state == REDIS_INBOX_UP;
	pthread_mutex_unlock(&s->mu);
	return up;
}
