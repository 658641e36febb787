/* SPDX-License-Identifier: Apache-2.0 */
#include "support/hostile.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "support/case.h"
#include "support/check.h"

enum { PAIRS = 64, CROWD = 4 };

struct hostile {
	pthread_t thread;
	pthread_mutex_t mu; /* the members below */
	int listener, port, stop, vanished;
	int crowd[CROWD]; /* fill the listener's queue; -1: none */
	const struct lab_server *real;
	const char *match;
	const void *lie;
	size_t lie_len;
	uint64_t lies;
	int client[PAIRS], server[PAIRS]; /* -1: none */
	int owed[PAIRS];                  /* an answer of the server */
};

/* Sends with a limit: a peer that does not read gets no more. */
static int put(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n <= 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void drop(struct hostile *h, int i)
{
	close(h->client[i]);
	if (h->server[i] >= 0)
		close(h->server[i]);
	h->client[i] = h->server[i] = -1;
}

static void welcome(struct hostile *h)
{
	struct timeval patience = { 0, 300000 };
	struct lab_address to;
	int fd = h->vanished ? -1 :
			       accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);

	for (int i = 0; fd >= 0 && i < PAIRS; i++) {
		if (h->client[i] >= 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
			   sizeof(patience));
		h->client[i] = fd;
		h->owed[i] = 0;
		if (h->real) {
			to = lab_server_address(h->real);
			h->server[i] = lab_connect(&to, lab_after_ms(5000));
		}
		return;
	}
	if (fd >= 0)
		close(fd);
}

static int matches(const char *match, const char *bytes, size_t n)
{
	size_t len = match ? strlen(match) : 0;

	if (!match)
		return 1;
	if (match[0] == '^')
		return n >= len - 1 && memcmp(bytes, match + 1, len - 1) == 0;
	return memmem(bytes, n, match, len) != NULL;
}

/* Returns the length of Redis' request at the begin of the bytes; for another
 * protocol, or a part of a request, all bytes. */
static size_t request_len(const char *bytes, size_t n)
{
	const char *next = n > 0 && bytes[0] == '*' ?
				   memmem(bytes, n, "\r\n*", 3) :
				   NULL;

	return next ? (size_t)(next - bytes) + 2 : n;
}

static void from_server(struct hostile *h, int i)
{
	char bytes[65536];
	ssize_t n = recv(h->server[i], bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n <= 0 || put(h->client[i], bytes, (size_t)n) < 0)
		drop(h, i);
	else
		h->owed[i] = 0;
}

/* The lie answers a later request than the server's answer. */
static void await_truth(struct hostile *h, int i)
{
	struct pollfd p = { h->server[i], POLLIN, 0 };

	if (h->owed[i] && poll(&p, 1, 1000) > 0)
		from_server(h, i);
}

static void one_request(struct hostile *h, int i, const char *bytes, size_t n)
{
	if (h->lie && matches(h->match, bytes, n)) {
		await_truth(h, i);
		if (h->client[i] >= 0) {
			put(h->client[i], h->lie, h->lie_len);
			h->lies++;
		}
		return;
	}
	if (h->server[i] < 0)
		return;
	h->owed[i] = 1;
	if (lab_send(h->server[i], bytes, n, lab_after_ms(1000)) < 0)
		drop(h, i);
}

static void from_client(struct hostile *h, int i)
{
	char bytes[65536];
	ssize_t n = recv(h->client[i], bytes, sizeof(bytes), MSG_DONTWAIT);
	size_t at = 0;

	if (n <= 0)
		drop(h, i);
	while (h->client[i] >= 0 && at < (size_t)n) {
		size_t len = request_len(bytes + at, (size_t)n - at);

		one_request(h, i, bytes + at, len);
		at += len;
	}
}

static void turn(struct hostile *h, const struct pollfd *p)
{
	if (p[0].revents)
		welcome(h);
	for (int i = 0; i < PAIRS; i++) {
		if (p[1 + i].revents && h->client[i] == p[1 + i].fd)
			from_client(h, i);
		if (p[1 + PAIRS + i].revents && h->client[i] >= 0 &&
		    h->server[i] == p[1 + PAIRS + i].fd)
			from_server(h, i);
	}
}

static void *run(void *arg)
{
	struct hostile *h = arg;
	struct pollfd p[1 + 2 * PAIRS];

	for (;;) {
		pthread_mutex_lock(&h->mu);
		if (h->stop)
			break;
		p[0] = (struct pollfd){ h->vanished ? -1 : h->listener, POLLIN,
					0 };
		for (int i = 0; i < PAIRS; i++) {
			p[1 + i] = (struct pollfd){ h->client[i], POLLIN, 0 };
			p[1 + PAIRS + i] = (struct pollfd){ h->server[i],
							    POLLIN, 0 };
		}
		pthread_mutex_unlock(&h->mu);
		if (poll(p, 1 + 2 * PAIRS, 20) <= 0)
			continue;
		pthread_mutex_lock(&h->mu);
		turn(h, p);
		pthread_mutex_unlock(&h->mu);
	}
	pthread_mutex_unlock(&h->mu);
	return NULL;
}

static void end_hostile(void *h)
{
	hostile_free(h);
}

struct hostile *hostile_start(const struct lab_server *s)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);

	CHECK(h);
	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	h->real = s;
	memset(h->client, -1, sizeof(h->client));
	memset(h->server, -1, sizeof(h->server));
	memset(h->crowd, -1, sizeof(h->crowd));
	pthread_mutex_init(&h->mu, NULL);
	h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(h->listener, (struct sockaddr *)&any, len) == 0);
	CHECK(listen(h->listener, 64) == 0);
	CHECK(getsockname(h->listener, (struct sockaddr *)&any, &len) == 0);
	h->port = ntohs(any.sin_port);
	CHECK(pthread_create(&h->thread, NULL, run, h) == 0);
	at_end(end_hostile, h);
	return h;
}

int hostile_port(const struct hostile *h)
{
	return h->port;
}

void hostile_free(struct hostile *h)
{
	pthread_mutex_lock(&h->mu);
	h->stop = 1;
	pthread_mutex_unlock(&h->mu);
	pthread_join(h->thread, NULL);
	for (int i = 0; i < PAIRS; i++) {
		if (h->client[i] >= 0)
			drop(h, i);
	}
	for (int i = 0; i < CROWD; i++) {
		if (h->crowd[i] >= 0)
			close(h->crowd[i]);
	}
	close(h->listener);
	pthread_mutex_destroy(&h->mu);
	free(h);
}

void hostile_say(struct hostile *h, const char *match, const void *bytes,
		 size_t len)
{
	pthread_mutex_lock(&h->mu);
	h->match = match;
	h->lie = bytes;
	h->lie_len = len;
	pthread_mutex_unlock(&h->mu);
}

void hostile_vanish(struct hostile *h)
{
	const struct lab_address self = { LAB_LOOPBACK, h->port, NULL };

	pthread_mutex_lock(&h->mu);
	h->vanished = 1;
	CHECK(listen(h->listener, 0) == 0);
	for (int i = 0; i < CROWD; i++)
		h->crowd[i] = lab_connect(&self, lab_after_ms(50));
	CHECK(h->crowd[CROWD - 1] == -1);
	for (int i = 0; i < PAIRS; i++) {
		if (h->client[i] >= 0)
			drop(h, i);
	}
	pthread_mutex_unlock(&h->mu);
}

uint64_t hostile_lies(struct hostile *h)
{
	uint64_t n;

	pthread_mutex_lock(&h->mu);
	n = h->lies;
	pthread_mutex_unlock(&h->mu);
	return n;
}
