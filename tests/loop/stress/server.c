/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/loop/stress/server.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "support/check.h"

enum { CONNS = 16 };

static struct lock {
	uint64_t holder; /* worker << 8 | lock, + 1 << 16; 0: free */
	uint64_t token;
	dlk_time end;
	uint64_t queue[WORKERS]; /* ids of attempts */
	int queued;
} locks[LOCKS];

static struct conn {
	int fd;
	char line[64];
	size_t len;
	int is_ear;
} conns[CONNS];

static struct pollfd fds[CONNS + 1];
static int n_conns, listener, kill_ms;
static atomic_int kills;
static uint64_t last_token;
static atomic_int stopped;
static pthread_t thread;

static uint64_t owner_of(uint64_t id)
{
	return (id & 0xffff) + 0x10000;
}

static void say(int fd, const char *text, int len)
{
	ssize_t n = send(fd, text, (size_t)len, MSG_NOSIGNAL);

	(void)n; /* the client finds out */
}

static void grant(struct lock *l, uint64_t id, int lease_ms)
{
	l->holder = owner_of(id);
	l->token = ++last_token;
	l->end = dlk_now() + lease_ms * DLK_MS;
}

static void unqueue(struct lock *l, uint64_t owner)
{
	int kept = 0;

	for (int i = 0; i < l->queued; i++) {
		if (owner_of(l->queue[i]) != owner)
			l->queue[kept++] = l->queue[i];
	}
	l->queued = kept;
}

/* The lock passes to the first waiter, and the waiter's client is told. */
static void next_holder(struct lock *l)
{
	char text[96];
	uint64_t id;
	int len;

	l->holder = 0;
	if (l->queued == 0)
		return;
	id = l->queue[0];
	unqueue(l, owner_of(id));
	grant(l, id, PUSHED_LEASE_MS);
	len = snprintf(text, sizeof(text),
		       "P %" PRIu64 " %" PRIu64 " %" PRIi64 "\n", id, l->token,
		       dlk_now() / 1000);
	for (int i = 0; i < n_conns; i++) {
		if (conns[i].is_ear)
			say(conns[i].fd, text, len);
	}
}

static void attempt(int fd, uint64_t id)
{
	struct lock *l = &locks[id & 0xff];
	char text[64];
	int len;

	unqueue(l, owner_of(id));
	if (l->holder == 0 && l->queued > 0)
		next_holder(l);
	if (l->holder == 0 || l->holder == owner_of(id)) {
		grant(l, id, LEASE_MS);
		len = snprintf(text, sizeof(text), "G %" PRIu64 "\n", l->token);
	} else {
		l->queue[l->queued++] = id;
		len = snprintf(text, sizeof(text), "B 0 %" PRIi64 "\n",
			       dlk_now() / 1000);
	}
	say(fd, text, len);
}

static void release(int fd, uint64_t owner)
{
	struct lock *l = &locks[owner & 0xff];
	int had = l->holder == owner_of(owner);

	unqueue(l, owner_of(owner));
	if (had)
		next_holder(l);
	say(fd, had ? "Y1\n" : "Y0\n", 3);
}

static void take_line(struct conn *c)
{
	uint64_t n = 0;

	if (strcmp(c->line, "HI") == 0) {
		say(c->fd, "HI\n", 3);
	} else if (strcmp(c->line, "EAR") == 0) {
		c->is_ear = 1;
		say(c->fd, "OK\n", 3);
	} else if (sscanf(c->line, "A %" SCNu64, &n) == 1) {
		attempt(c->fd, n);
	} else if (sscanf(c->line, "R %" SCNu64, &n) == 1) {
		release(c->fd, n);
	} else {
		FAIL("the server was told '%s'", c->line);
	}
}

/* 0: the client has closed. */
static int take_bytes(struct conn *c)
{
	char bytes[512];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			c->line[c->len++] = bytes[i];
			CHECK(c->len < sizeof(c->line));
			continue;
		}
		c->line[c->len] = '\0';
		c->len = 0;
		take_line(c);
	}
	return n > 0;
}

static void close_conn(int i)
{
	close(conns[i].fd);
	conns[i] = conns[--n_conns];
}

static void kill_all(void)
{
	static const struct linger now = { 1, 0 };

	kills++;
	while (n_conns > 0) {
		if (kills % 2)
			setsockopt(conns[0].fd, SOL_SOCKET, SO_LINGER, &now,
				   sizeof(now));
		close_conn(0);
	}
}

static void accept_conn(void)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	CHECK(n_conns < CONNS);
	conns[n_conns++] = (struct conn){ .fd = fd };
}

static void *serve(void *arg)
{
	dlk_time next_kill = dlk_now() + kill_ms * DLK_MS;

	while (!atomic_load(&stopped)) {
		int n = n_conns;

		for (int i = 0; i < n; i++)
			fds[i] = (struct pollfd){ conns[i].fd, POLLIN, 0 };
		fds[n] = (struct pollfd){ listener, POLLIN, 0 };
		poll(fds, (nfds_t)n + 1, 5);
		if (fds[n].revents)
			accept_conn();
		for (int i = n; i-- > 0;) {
			if (fds[i].revents && !take_bytes(&conns[i]))
				close_conn(i);
		}
		for (int i = 0; i < LOCKS; i++) {
			if (locks[i].holder && dlk_now() >= locks[i].end)
				next_holder(&locks[i]);
		}
		if (kill_ms && dlk_now() >= next_kill) {
			kill_all();
			next_kill = dlk_now() + kill_ms * DLK_MS;
		}
	}
	return arg;
}

uint16_t server_start(int kill_every_ms)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	kill_ms = kill_every_ms;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *)&a, len) == 0);
	CHECK(listen(listener, CONNS) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&a, &len) == 0);
	CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
	return ntohs(a.sin_port);
}

int server_kills(void)
{
	return atomic_load(&kills);
}

int server_stop(void)
{
	atomic_store(&stopped, 1);
	pthread_join(thread, NULL);
	while (n_conns > 0)
		close_conn(0);
	close(listener);
	return kills;
}
