/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that share a pool of real connections while others renew it and hang
 * up, for the thread sanitizer above all.
 */
#include <dlock/backend_net.h>

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"

enum { THREADS = 8, MAX = 3, ROUNDS = 300 };

struct connection {
	struct dlk_pooled base;
	struct dlk_net net;
	int uses; /* by one thread at a time, or TSan tells */
};

static uint16_t port;
static atomic_int n_open, too_many, failures;

static struct dlk_pooled *open_it(void *arg, dlk_time deadline,
				  struct dlk_error *err)
{
	struct connection *c = calloc(1, sizeof(*c));

	(void)arg;
	if (!c)
		abort();
	c->net.fd = -1;
	if (dlk_net_tcp(&c->net, "localhost", port, deadline, err) != 0) {
		free(c);
		return NULL;
	}
	if (atomic_fetch_add(&n_open, 1) >= MAX)
		atomic_fetch_add(&too_many, 1);
	return &c->base;
}

static void close_it(struct dlk_pooled *p)
{
	struct connection *c = (struct connection *)p;

	atomic_fetch_sub(&n_open, 1);
	dlk_net_close(&c->net);
	free(c);
}

static int usable(struct dlk_pooled *p)
{
	return dlk_net_quiet(&((struct connection *)p)->net);
}

static void *hang_up(void *arg)
{
	dlk_net_hang_up(arg);
	return NULL;
}

/* Nobody answers: only the deadline or a hang-up ends it. */
static int request(struct connection *c, int round)
{
	struct dlk_error err;
	pthread_t thread;
	char byte;
	size_t got;
	int rc;

	c->uses++;
	if (round % 16 != 0)
		return dlk_net_send(&c->net, "x", 1, dlki_deadline(10000),
				    &err) == 0;
	if (dlk_thread(&thread, "hang-up", hang_up, &c->net) != 0)
		abort();
	rc = dlk_net_recv(&c->net, &byte, 1, &got, DLK_FOREVER, &err);
	pthread_join(thread, NULL);
	return rc == 0;
}

static void *work(void *arg)
{
	struct dlk_pool *p = arg;

	for (int i = 1; i <= ROUNDS; i++) {
		struct dlk_error err;
		struct dlk_pooled *c = dlk_pool_take(p, dlki_deadline(30000),
						     NULL, &err);

		if (!c) {
			atomic_fetch_add(&failures, 1);
			continue;
		}
		dlk_pool_give(p, c, request((struct connection *)c, i));
		if (i % 50 == 0)
			dlk_pool_renew(p);
	}
	return NULL;
}

/* Its queue is as long as the test: nobody accepts. */
static int listen_here(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&addr, len) < 0 ||
	    listen(fd, 4096) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) < 0)
		abort();
	port = ntohs(addr.sin_port);
	return fd;
}

int main(void)
{
	static const struct dlk_pool_type type = { open_it, close_it, usable };
	struct dlk_pool *p = dlk_pool_new(&type, NULL, MAX, MAX - 1);
	pthread_t thread[THREADS];
	int listener = listen_here();
	int failed;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, work, p) != 0)
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	dlk_pool_free(p);
	close(listener);
	failed = (atomic_load(&too_many) != 0) + (atomic_load(&failures) != 0) +
		 (atomic_load(&n_open) != 0);
	if (failed != 0)
		printf("FAILED: %d too many, %d failures, %d left open\n",
		       atomic_load(&too_many), atomic_load(&failures),
		       atomic_load(&n_open));
	printf("%d passed, %d failed, 0 skipped\n", 3 - failed, failed);
	return failed != 0;
}
