/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls: the requests go to the server together. */
#include "support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/outcome.h"

TestSuite(redis_batch, .timeout = 120);

enum { N = 40 };

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *client;
static dlock_lock *lock[N + 1];
static struct outcome first, o[N];

/* Count the held locks. */
static int held(void)
{
	int n = 0;

	for (int i = 0; i < N; i++)
		n += atoi(server_do(server, "EXISTS dlock:{ln%d}", i));
	return n;
}

/* The async thread waits for the answer to the first call, and N calls wait for
 * the async thread. */
static void given_calls(const char *query)
{
	char name[12];

	server = server_start(NULL);
	proxy = proxy_of_case(server);
	client = client_of(lab_proxy_port(proxy), query, NULL);
	warm_up(client);
	for (int i = 0; i < N + 1; i++) {
		snprintf(name, sizeof(name), "%d", i);
		lock[i] = mutex(client, name);
		CHECK_OK(dlock_lock_unbind(lock[i]));
	}
	outcomes_process(client);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	ask_async(&first, lock[N], -1);
	EVENTUALLY(atoi(server_do(server, "EXISTS dlock:{ln%d}", N)));
	for (int i = 0; i < N; i++)
		ask_async(&o[i], lock[i], -1);
	CHECK_INT(held(), ==, 0);
}

CASE(redis_batch, attempts_share_a_flight)
{
	uint64_t before;

	given_calls("ttl=60s&ask=20s&connect=5s&close=5s");
	before = lab_proxy_stat(proxy, LAB_UP_CHUNKS);
	lab_proxy_heal(proxy);
	for (int i = 0; i < N; i++) {
		CHECK_OK(outcome_of(&o[i]));
		CHECK_OK(dlock_check(o[i].hold));
	}
	CHECK_INT(lab_proxy_stat(proxy, LAB_UP_CHUNKS) - before, <, N / 2);
	CHECK_INT(held(), ==, N);
	for (int i = 0; i < N; i++)
		CHECK_OK(dlock_release_start(o[i].hold, NULL, NULL));
	CHECK_OK(outcome_of(&first));
	CHECK_OK(dlock_release_start(first.hold, NULL, NULL));
	EVENTUALLY(held() == 0);
	outcomes_leave(client);
}
