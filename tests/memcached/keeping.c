/* SPDX-License-Identifier: Apache-2.0 */
#include "keeping.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/net.h"
#include "support/wait.h"

enum { PAIRS = 32, PATIENCE_MS = 5000 };

struct keeping {
	pthread_t thread;
	const struct lab_server *real;
	int listener, port;
	atomic_int stop, changed;
	struct {
		int client, server; /* -1: none */
		int old;            /* it had a server before */
	} v[PAIRS];                 /* the thread's */
};

static void welcome(struct keeping *k)
{
	int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);

	for (int i = 0; fd >= 0 && i < PAIRS; i++) {
		if (k->v[i].client >= 0)
			continue;
		k->v[i].client = fd;
		k->v[i].old = 0;
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void to_server(struct keeping *k, int i)
{
	struct lab_address to = lab_server_address(k->real);
	char bytes[65536];
	ssize_t n = read(k->v[i].client, bytes, sizeof(bytes));

	if (n <= 0) {
		drop(&k->v[i].client);
		drop(&k->v[i].server);
		return;
	}
	if (k->v[i].server < 0) {
		k->v[i].server = lab_connect(&to, lab_after_ms(PATIENCE_MS));
		atomic_fetch_add(&k->changed, k->v[i].old);
		k->v[i].old = 1;
	}
	if (lab_send(k->v[i].server, bytes, (size_t)n,
		     lab_after_ms(PATIENCE_MS)) < 0)
		drop(&k->v[i].server);
}

/* The end of the server's connection is not passed on. */
static void to_client(struct keeping *k, int i)
{
	char bytes[65536];
	ssize_t n = read(k->v[i].server, bytes, sizeof(bytes));

	if (n <= 0)
		drop(&k->v[i].server);
	else if (lab_send(k->v[i].client, bytes, (size_t)n,
			  lab_after_ms(PATIENCE_MS)) < 0)
		drop(&k->v[i].client);
}

static void *run(void *arg)
{
	struct keeping *k = arg;

	while (!atomic_load(&k->stop)) {
		struct pollfd p[1 + 2 * PAIRS] = {
			{ .fd = k->listener, .events = POLLIN },
		};

		for (int i = 0; i < PAIRS; i++) {
			p[1 + 2 * i].fd = k->v[i].server;
			p[2 + 2 * i].fd = k->v[i].client;
			p[1 + 2 * i].events = p[2 + 2 * i].events = POLLIN;
		}
		if (poll(p, 1 + 2 * PAIRS, 20) <= 0)
			continue;
		/* What the server does first is seen first. */
		for (int i = 0; i < PAIRS; i++) {
			if (p[1 + 2 * i].revents)
				to_client(k, i);
			if (p[2 + 2 * i].revents)
				to_server(k, i);
		}
		if (p[0].revents)
			welcome(k);
	}
	return NULL;
}

struct keeping *keeping_start(const struct lab_server *s)
{
	struct keeping *k = calloc(1, sizeof(*k));
	int reuse = 1;

	CHECK(k);
	k->real = s;
	k->port = lab_reserve_port(&k->listener);
	CHECK_INT(k->port, >, 0);
	setsockopt(k->listener, SOL_SOCKET, SO_REUSEADDR, &reuse,
		   sizeof(reuse));
	CHECK_INT(listen(k->listener, PAIRS), ==, 0);
	for (int i = 0; i < PAIRS; i++)
		k->v[i].client = k->v[i].server = -1;
	CHECK(!pthread_create(&k->thread, NULL, run, k));
	return k;
}

struct lab_address keeping_address(const struct keeping *k)
{
	return (struct lab_address){ .host = LAB_LOOPBACK, .port = k->port };
}

int keeping_changed(struct keeping *k)
{
	return atomic_load(&k->changed);
}

void keeping_free(struct keeping *k)
{
	atomic_store(&k->stop, 1);
	pthread_join(k->thread, NULL);
	for (int i = 0; i < PAIRS; i++) {
		drop(&k->v[i].client);
		drop(&k->v[i].server);
	}
	close(k->listener);
	free(k);
}
