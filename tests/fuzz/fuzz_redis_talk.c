/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole Redis store against a server that says whatever it likes: the
 * library's calls of net.h come here instead of to a socket (the linker
 * wraps them), and what is received are the input's bytes.  Each call must give
 * one of its verdicts, with a message if it failed, and leak nothing.
 *
 * Input: which URI, kind and mode; size of the pieces; eight calls; then what
 * the server sends, on whatever connection.
 */
#include "backends/redis/redis.h"
#include "backends/redis/conn.h"
#include "core/uri/uri.h"
#include "core/base/utf8.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                     \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

#define TOKEN_MAX UINT64_C(9007199254740991)

enum { CALLS = 8, TICKETS = 2, HEAD = 2 + CALLS };

extern const struct dlock_backend dlki_redis_backend;

static const uint8_t *sent;
static size_t left, piece;
static int open_sockets;

static dlk_time soon(void)
{
	return dlk_now() + 1000 * DLK_MS;
}

static void require_message(const struct dlk_error *err)
{
	size_t at;

	REQUIRE(err->code < 0 && err->text[0]);
	REQUIRE(!dlki_text_flaw(err->text, strlen(err->text), &at));
}

/* ---- Instead of the network ---------------------------------------------- */

int __wrap_dlk_net_connect(struct dlk_net *n, const struct sockaddr *addr,
			   socklen_t len, dlk_time deadline,
			   struct dlk_error *err);
int __wrap_dlk_net_send(struct dlk_net *n, const void *data, size_t len,
			dlk_time deadline, struct dlk_error *err);
int __wrap_dlk_net_recv(struct dlk_net *n, void *data, size_t size, size_t *got,
			dlk_time deadline, struct dlk_error *err);
int __wrap_dlk_net_quiet(const struct dlk_net *n);
void __wrap_dlk_net_hang_up(const struct dlk_net *n);
void __wrap_dlk_net_close(struct dlk_net *n);
int __wrap_poll(struct pollfd *p, nfds_t n, int timeout_ms);

int __wrap_dlk_net_connect(struct dlk_net *n, const struct sockaddr *addr,
			   socklen_t len, dlk_time deadline,
			   struct dlk_error *err)
{
	(void)addr;
	(void)len;
	(void)deadline;
	(void)err;
	n->fd = 1000;
	open_sockets++;
	return 0;
}

int __wrap_dlk_net_send(struct dlk_net *n, const void *data, size_t len,
			dlk_time deadline, struct dlk_error *err)
{
	(void)deadline;
	(void)err;
	REQUIRE(n->fd == 1000 && len > 3 && *(const char *)data == '*');
	return 0;
}

int __wrap_dlk_net_recv(struct dlk_net *n, void *data, size_t size, size_t *got,
			dlk_time deadline, struct dlk_error *err)
{
	size_t most = piece ? piece : size;

	(void)deadline;
	REQUIRE(n->fd == 1000);
	if (left == 0)
		return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: closed", n->peer);
	*got = most < size ? most : size;
	if (*got > left)
		*got = left;
	memcpy(data, sent, *got);
	sent += *got;
	left -= *got;
	return 0;
}

int __wrap_dlk_net_quiet(const struct dlk_net *n)
{
	return n->fd == 1000;
}

void __wrap_dlk_net_hang_up(const struct dlk_net *n)
{
	REQUIRE(n->fd == 1000);
}

void __wrap_dlk_net_close(struct dlk_net *n)
{
	open_sockets -= n->fd == 1000;
	n->fd = -1;
}

int __wrap_poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
	(void)n;
	(void)timeout_ms;
	p->revents = POLLIN;
	return 1;
}

/* ---- Instead of threads, and of the core --------------------------------- */

int __wrap_dlk_thread(pthread_t *out, const char *name, void *(*run)(void *),
		      void *arg);
int __wrap_dlk_listen(struct dlk_session *s, int fd, struct dlk_error *err);
int __wrap_epoll_ctl(int set_fd, int op, int fd, struct epoll_event *ev);
void __wrap_dlk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu,
			  dlk_time until);
void __wrap_dlk_wake(struct dlk_session *s, uint64_t id);
void __wrap_dlk_verify_all(struct dlk_session *s);
void __wrap_dlk_log(struct dlk_session *s, int level, const char *fmt, ...);
void __wrap_dlk_answered(struct dlk_session *s, dlk_time asked,
			 dlk_time answered);

static void *(*subscriber_thread)(void *);
static struct redis_session *session;

int __wrap_dlk_thread(pthread_t *out, const char *name, void *(*run)(void *),
		      void *arg)
{
	(void)out;
	(void)name;
	subscriber_thread = run;
	session = arg;
	return 0;
}

int __wrap_dlk_listen(struct dlk_session *s, int fd, struct dlk_error *err)
{
	(void)err;
	REQUIRE(s == &session->base && fd >= -1);
	return 0;
}

int __wrap_epoll_ctl(int set_fd, int op, int fd, struct epoll_event *ev)
{
	(void)op;
	(void)ev;
	REQUIRE(set_fd >= 0 && fd >= 0);
	return 0;
}

/* A wait for the notification channel opens it here and now, and takes in what
 * comes until it is down again. */
void __wrap_dlk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu,
			  dlk_time until)
{
	(void)cond;
	(void)until;
	REQUIRE(session && session->state == RD_NOTIFY_OPENING);
	pthread_mutex_unlock(mu);
	session->subscriber.has_thread = session->subscriber.has_last = 0;
	subscriber_thread(session);
	while (session->state == RD_NOTIFY_UP)
		dlki_redis_backend.pump(&session->base);
	pthread_mutex_lock(mu);
	REQUIRE(session->state == RD_NOTIFY_DOWN);
}

void __wrap_dlk_wake(struct dlk_session *s, uint64_t id)
{
	REQUIRE(s == &session->base && id >= 1 && id <= TICKETS);
}

void __wrap_dlk_verify_all(struct dlk_session *s)
{
	REQUIRE(s == &session->base);
}

void __wrap_dlk_answered(struct dlk_session *s, dlk_time asked,
			 dlk_time answered)
{
	(void)s;
	REQUIRE(asked <= answered);
}

void __wrap_dlk_log(struct dlk_session *s, int level, const char *fmt, ...)
{
	char text[512];
	va_list args;
	size_t at;
	int n;

	(void)s;
	REQUIRE(level >= 0 && level <= 3);
	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	REQUIRE(n > 0);
	REQUIRE(n >= (int)sizeof(text) ||
		!dlki_text_flaw(text, strlen(text), &at));
}

/* ---- The calls ----------------------------------------------------------- */

static void each_participant(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	REQUIRE(strlen(p->label) < 512 && strlen(p->id) < 64);
	REQUIRE(p->token <= TOKEN_MAX && p->remaining_ms >= -1);
}

static void each_lock(const struct dlock_lock_info *e, void *arg)
{
	(void)arg;
	REQUIRE(e->name[0] && strlen(e->name) < 256 && e->kind);
}

static void require_code(int rc, const struct dlk_error *err)
{
	REQUIRE(rc <= 0);
	if (rc != 0) {
		REQUIRE(err->code == rc);
		require_message(err);
	}
}

static void attempt(struct redis_ticket *t, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	dlk_time now = dlk_now();

	/* The pause before the next try is over. */
	if (s->state == RD_NOTIFY_DOWN)
		s->state = RD_NOTIFY_OPENING;
	t->base.since = now;
	t->base.lease_ms = t->base.session->ttl_ms;
	t->base.look_again = 0;
	switch (dlki_redis_backend.attempt(&t->base, soon(), err)) {
	case DLK_GRANTED:
		REQUIRE(t->base.token >= 1 && t->base.token <= TOKEN_MAX);
		REQUIRE(t->base.since <= dlk_now());
		REQUIRE(t->base.lease_ms <= t->base.session->ttl_ms);
		break;
	case DLK_BUSY:
		REQUIRE(t->base.look_again > now);
		break;
	default:
		require_message(err);
	}
}

static void renew(struct redis_session *s, struct redis_ticket *t,
		  struct dlk_error *err)
{
	struct dlk_ticket *all[TICKETS];
	enum dlk_renewal verdict[TICKETS] = { DLK_UNKNOWN };

	for (int i = 0; i < TICKETS; i++)
		all[i] = &t[i].base;
	dlki_redis_backend.renew(&s->base, all, verdict, TICKETS, soon(), err);
	for (int i = 0; i < TICKETS; i++)
		REQUIRE(verdict[i] == DLK_UNKNOWN ||
			verdict[i] == DLK_RENEWED || verdict[i] == DLK_GONE);
}

static void call(struct redis_session *s, struct redis_ticket *all,
		 uint8_t what)
{
	const struct dlock_backend *b = &dlki_redis_backend;
	struct redis_ticket *t = &all[what >> 7];
	struct dlk_error err = { 0 };

	switch (what & 7) {
	case 0:
		renew(s, all, &err);
		break;
	case 1:
		require_code(b->release(&t->base, soon(), &err), &err);
		break;
	case 2:
		require_code(b->inspect(&s->base, &t->base.request,
					each_participant, NULL, soon(), &err),
			     &err);
		break;
	case 3:
		require_code(b->list(&s->base, each_lock, NULL, soon(), &err),
			     &err);
		break;
	case 4:
		require_code(b->break_(&s->base, &t->base.request, soon(),
				       &err),
			     &err);
		break;
	case 5:
		if (t->base.request.mode == DLK_EXCLUSIVE)
			require_code(b->downgrade(&t->base, soon(), &err),
				     &err);
		break;
	default:
		attempt(t, &err);
	}
}

/* ---- One session --------------------------------------------------------- */

static struct dlk_uri *parse(int which)
{
	static const char *const texts[] = {
		"redis://127.0.0.1",
		"redis://user:secret@127.0.0.1:1/3?client_name=me&order=any",
	};
	static struct dlk_uri *uris[2];
	struct dlk_error err;

	if (!uris[which])
		REQUIRE(dlki_uri_parse(&uris[which], texts[which],
				       dlki_redis_backend.params, NULL,
				       &err) == 0);
	return uris[which];
}

static void prepare(struct redis_session *s, struct redis_ticket *t,
		    uint8_t how)
{
	static const char *const owners[TICKETS] = {
		"0123456789abcdef0123456789abcdef",
		"fedcba9876543210fedcba9876543210",
	};
	int kind = how >> 1 & 3; /* 0, 1: writer; 2: reader; 3: semaphore */

	s->base.backend = &dlki_redis_backend;
	s->base.uri = parse(how & 1);
	s->base.label = "host:1";
	s->base.caps = dlki_redis_backend.caps;
	s->base.ttl_ms = 1000;
	for (int i = 0; i < TICKETS; i++) {
		t[i].base.session = &s->base;
		t[i].base.id = (uint64_t)i + 1;
		t[i].base.request = (struct dlk_request){
			.name = "name",
			.key = kind == 3 ? "sname" : "lname",
			.owner = owners[i],
			.label = s->base.label,
			.kind = kind == 3 ? DLK_SEMAPHORE : DLK_LOCK,
			.mode = kind >= 2 ? DLK_SHARED : DLK_EXCLUSIVE,
			.limit = kind == 3 ? 2 : 0,
		};
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redis_session s = { 0 };
	struct redis_ticket t[TICKETS] = { 0 };
	struct dlk_error err = { 0 };
	int rc;

	if (size < HEAD)
		return 0;
	sent = data + HEAD;
	left = size - HEAD;
	piece = data[1];
	session = &s;
	prepare(&s, t, data[0]);
	rc = dlki_redis_backend.open(&s.base, soon(), &err);
	require_code(rc, &err);
	for (int i = 0; rc == 0 && i < CALLS; i++)
		call(&s, t, data[2 + i]);
	for (int i = 0; rc == 0 && i < TICKETS; i++)
		require_code(dlki_redis_backend.release(&t[i].base, soon(),
							&err),
			     &err);
	if (rc == 0)
		dlki_redis_backend.close(&s.base, soon());
	REQUIRE(open_sockets == 0);
	return 0;
}
