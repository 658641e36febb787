/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/redis/protocol/rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"

extern const struct dlock_backend dlki_redis_backend;

void rig_say_string(int sock, const char *text)
{
	char bulk[600];

	snprintf(bulk, sizeof(bulk), "$%zu\r\n%s\r\n", strlen(text), text);
	rig_say(sock, bulk);
}

void rig_publish(const char *text)
{
	char message[200];

	snprintf(message, sizeof(message),
		 "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%zu\r\n%s\r\n",
		 strlen(text), text);
	rig_say_slowly(RIG_EAR, message);
	if (rig.pushed)
		cr_assert_eq(rig.news_lease_ms, 5000);
}

void rig_begin(const char *uri)
{
	const struct rig_store store = {
		.protocol = &dlki_redis_protocol,
		.params = dlki_redis_backend.params,
		.port = 6379,
		.patience_ms = 1000,
	};

	rig_open(&store, uri);
}

void rig_begin_up(const char *query)
{
	char uri[200];

	snprintf(uri, sizeof(uri), "redis://h?ttl=10s%s", query);
	rig_begin(uri);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "*1\r\n$4\r\nINFO\r\n");
	rig_say_string(RIG_MAIN, "redis_version:7.0.15\r\nrun_id:one\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

void rig_up(void)
{
	rig_begin_up("");
}

void rig_ear_connects(int sock)
{
	rig_connected(sock);
	cr_assert_str_eq(rig_heard(sock), INFO_SERVER SUBSCRIBE);
	rig_say_string(sock, "run_id:one\r\n");
	rig_say(sock, SUBSCRIBED);
}

void rig_raise_ear(void)
{
	rig_submit(0, DLKI_ATTEMPT);
	rig_say_string(RIG_MAIN, "B 0 1700000000000000");
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig_turn();
	rig_ear_connects(RIG_EAR);
	cr_assert_eq(rig.looked, 1);
	rig_heard(RIG_MAIN);
}

int rig_count(const char *text, const char *word)
{
	int n = 0;

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		n++;
	return n;
}
