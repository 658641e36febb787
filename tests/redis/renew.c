/* SPDX-License-Identifier: Apache-2.0 */
/* Renewals. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(redis_renew, .timeout = 120);

static struct lab_server *server;
static dlock_client *c;

enum { MANY = 300 };

CASE(redis_renew, of_many_is_one_flight)
{
	static dlock_lock *locks[MANY];
	static dlock_hold *holds[MANY];
	struct lab_proxy *proxy;
	uint64_t before, rounds;
	char name[32];

	server = server_start(NULL);
	proxy = proxy_of_case(server);
	c = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "lock %d", i);
		locks[i] = mutex(c, name);
		holds[i] = take(locks[i], patience_ms());
	}
	before = lab_proxy_stat(proxy, LAB_UP_CHUNKS);
	rounds = stats(c).renewed;
	EVENTUALLY(stats(c).renewed >= rounds + MANY);
	CHECK_INT(lab_proxy_stat(proxy, LAB_UP_CHUNKS) - before, <, MANY / 4);
	for (int i = 0; i < MANY; i++)
		give(holds[i]);
}
