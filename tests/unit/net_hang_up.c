/* SPDX-License-Identifier: Apache-2.0 */
/* dlk_net_hang_up(), which ends a connection under a thread that uses it. */
#include <dlock/backend_net.h>

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/wait.h"
#include "unit/peer.h"

struct call {
	struct dlk_net *n;
	size_t send; /* 0: receive */
	atomic_int over;
};

static void *call(void *arg)
{
	struct call *c = arg;
	struct dlk_error err = { 0 };
	char *data = calloc(1, c->send + 1);
	size_t got;
	int rc;

	if (c->send)
		rc = dlk_net_send(c->n, data, c->send, DLK_FOREVER, &err);
	else
		rc = dlk_net_recv(c->n, data, 1, &got, DLK_FOREVER, &err);
	CHECK_INT(rc, ==, DLOCK_EUNREACHABLE);
	CHECK_TEXT(err.text, "the connection was closed");
	free(data);
	atomic_store(&c->over, 1);
	return NULL;
}

/* Hangs up after `busy_ms`: under the socket's own time-out, or in ppoll().
 * Returns the time taken in ms. */
static int64_t hang_up(int local, size_t size, int64_t busy_ms)
{
	struct dlk_net n = DLK_NET_INIT;
	struct call c = { .n = &n, .send = size };
	int fd = local ? peer_unix(&n) : peer_tcp(&n);
	pthread_t thread;
	int64_t start;

	CHECK(pthread_create(&thread, NULL, call, &c) == 0);
	nap_ms(busy_ms);
	CHECK(!atomic_load(&c.over));
	start = now_ms();
	dlk_net_hang_up(&n);
	pthread_join(thread, NULL);
	start = now_ms() - start;
	/* A later call fails as well. */
	call(&c);
	dlk_net_close(&n);
	close(fd);
	return start;
}

Test(net, hanging_up_ends_what_blocks)
{
	static const int64_t busy_ms[] = { 5, 80 };

	for (int local = 0; local < 2; local++) {
		for (int i = 0; i < 2; i++) {
			CHECK_WITHIN(hang_up(local, 0, busy_ms[i]), slack_ms());
			CHECK_WITHIN(hang_up(local, 32 << 20, busy_ms[i]),
				     slack_ms());
		}
	}
}
