/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server answers the word `conf` with the tickTime, if the configuration
 * allows the word (4lw.commands.whitelist).  Elsewhere the client begins and
 * ends a session of a millisecond.  The server makes it two ticks, unless the
 * configuration sets minSessionTimeout.
 */
#include "backends/zk/tick.h"
#include "backends/zk/look.h"
#include "backends/zk/session.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NS (500 * DLK_MS)
#define MOST_TICK_MS 3600000

struct server {
	char address[ZK_ADDRESS_SIZE]; /* without the port */
	uint16_t port;
	dlk_time until;
};

/* Returns how many bytes came until the server ended the connection, or `size`
 * was reached. */
static size_t exchange(const struct server *to, const void *out, size_t len,
		       char *in, size_t size)
{
	struct zk_look l = ZK_NO_LOOK;
	struct dlk_error err = { 0 };
	size_t got = 0, more = 1;
	int rc = dlki_zk_look_begin(&l, to->address, to->port, to->until, &err);

	if (rc == 0)
		rc = dlki_zk_look_ask(&l, out, len, &err);
	while (rc == 0 && more > 0 && got < size) {
		more = 0;
		rc = dlki_zk_look_hear(&l, in + got, size - got, &more,
				       to->until, &err);
		got += more;
	}
	dlki_zk_look_end(&l);
	return got;
}

/* Milliseconds; 0: the server does not tell. */
static int64_t tick_by_word(const struct server *to)
{
	static const char key[] = "\ntickTime=";
	char text[4096];
	const char *at;
	int64_t tick_ms;

	text[exchange(to, "conf", 4, text, sizeof(text) - 1)] = '\0';
	at = strstr(text, key);
	tick_ms = at ? strtoll(at + strlen(key), NULL, 10) : 0;
	return tick_ms > 0 && tick_ms <= MOST_TICK_MS ? tick_ms : 0;
}

/* Two requests of ZooKeeper's protocol, and the answer to the first. */
struct __attribute__((packed)) begin_and_end {
	uint32_t begin_len, version;
	uint64_t zxid;
	uint32_t timeout_ms;
	uint64_t session;
	uint32_t password_len;
	char password[16], read_only;
	uint32_t end_len, xid, type;
};

struct __attribute__((packed)) begun {
	uint32_t len, version, timeout_ms;
};

#define END_SESSION ((uint32_t)-11)

static int64_t tick_by_session(const struct server *to)
{
	const struct begin_and_end request = {
		.begin_len = htobe32(45),
		.timeout_ms = htobe32(1),
		.password_len = htobe32(16),
		.end_len = htobe32(8),
		.xid = htobe32(1),
		.type = htobe32(END_SESSION),
	};
	char bytes[128];
	struct begun begun;
	int64_t timeout_ms;

	if (exchange(to, &request, sizeof(request), bytes, sizeof(bytes)) <
	    sizeof(begun))
		return 0;
	memcpy(&begun, bytes, sizeof(begun));
	timeout_ms = be32toh(begun.timeout_ms);
	return timeout_ms > 1 && timeout_ms / 2 <= MOST_TICK_MS ?
		       timeout_ms / 2 :
		       0;
}

/* The server of this connection.  0: the server is standalone. */
static int find_server(struct zk_session *s, struct server *out)
{
	char *colon;
	int found;

	pthread_mutex_lock(&s->mu);
	found = s->conn && s->probe.known && !s->probe.standalone;
	if (found) {
		memcpy(out->address, s->conn->address, sizeof(out->address));
		colon = strrchr(out->address, ':');
		out->port = (uint16_t)strtoul(colon + 1, NULL, 10);
		*colon = '\0';
	}
	pthread_mutex_unlock(&s->mu);
	return found;
}

int dlki_zk_tick_learn(struct zk_session *s, dlk_time deadline,
		       struct dlk_error *err)
{
	dlk_time now = dlk_now();
	struct server to = { .until = now + (deadline - now) / 2 };
	int64_t tick_ms;
	int rc = 0;

	if (!find_server(s, &to))
		return 0;
	if (to.until > now + MOST_NS)
		to.until = now + MOST_NS;
	tick_ms = tick_by_word(&to);
	if (tick_ms == 0)
		tick_ms = tick_by_session(&to);
	pthread_mutex_lock(&s->mu);
	if (tick_ms > s->tick_ms && s->core)
		dlk_log(s->core, 1,
			"the servers' tickTime is %lld ms, and tick= is less: "
			"leases are shorter for it",
			(long long)tick_ms);
	if (tick_ms == 0 && s->core)
		dlk_log(s->core, 2,
			"the servers do not tell their tickTime: leases are "
			"right if tick= is that, or more");
	if (tick_ms > s->tick_ms) {
		s->tick_ms = tick_ms;
		s->tick_told = 1;
	}
	if (dlki_zk_lease_too_short(s, err))
		rc = err->code;
	pthread_mutex_unlock(&s->mu);
	return rc;
}
