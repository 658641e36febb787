/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/redis.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/servers/resp.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define REPLY_MAX 65536
#define COMMAND_MS 5000

struct redis {
	struct lab_redis_options o;
	char secret[33]; /* of the lab's own user */
};

static const struct redis *redis_of(const struct lab_server *s)
{
	return s->options;
}

/* Add a line to the configuration if `value` is set. */
static void add_line(char *text, size_t size, const char *name,
		     const char *value)
{
	size_t len = strlen(text);

	if (value)
		snprintf(text + len, size - len, "%s %s\n", name, value);
}

static void optional_lines(const struct lab_server *s, char *text, size_t size)
{
	const struct lab_redis_options *o = &redis_of(s)->o;
	char value[128];

	*text = '\0';
	add_line(text, size, "appendonly", o->aof ? "yes" : "no");
	add_line(text, size, "appendfsync", o->aof ? "always" : NULL);
	add_line(text, size, "save", "\"\"");
	add_line(text, size, "unixsocket", *s->socket ? s->socket : NULL);
	add_line(text, size, "requirepass", o->password);
	add_line(text, size, "maxmemory", o->maxmemory);
	add_line(text, size, "maxmemory-policy", o->policy);
	if (o->replica_of) {
		snprintf(value, sizeof(value), LAB_LOOPBACK " %d",
			 o->replica_of->port);
		add_line(text, size, "replicaof", value);
		add_line(text, size, "masteruser", "lab");
		add_line(text, size, "masterauth",
			 redis_of(o->replica_of)->secret);
	}
}

static int redis_command(struct lab_server *s, struct lab_args *args)
{
	const struct redis *r = redis_of(s);
	char lines[1024];

	if (r->o.unix_socket)
		snprintf(s->socket, sizeof(s->socket), "%s/redis.sock", s->dir);
	optional_lines(s, lines, sizeof(lines));
	if (lab_server_file(s, "redis.conf",
			    "bind " LAB_LOOPBACK "\n"
			    "port %d\n"
			    "dir %s\n"
			    "daemonize no\n"
			    "logfile \"\"\n"
			    "unixsocketperm 700\n"
			    /* Replicas wait 5 s for company otherwise. */
			    "repl-diskless-sync-delay 0\n"
			    "user lab on >%s ~* &* +@all\n"
			    "%s%s%s\n",
			    s->port, s->dir, r->secret, lines,
			    r->o.users ? r->o.users : "",
			    r->o.config ? r->o.config : "") < 0)
		return -1;
	lab_arg(args, "redis-server");
	lab_arg(args, "%s/redis.conf", s->dir);
	return 0;
}

static bool one_reply(const char *reply, size_t len)
{
	return lab_resp_end(reply, reply + len) != NULL;
}

static bool two_replies(const char *reply, size_t len)
{
	const char *first = lab_resp_end(reply, reply + len);

	return first && lab_resp_end(first, reply + len);
}

static int redis_probe(struct lab_server *s, int64_t deadline)
{
	struct lab_address to = lab_server_address(s);
	char reply[256];

	if (lab_ask(&to, "PING\r\n", reply, sizeof(reply), one_reply,
		    deadline) < 0)
		return 0;
	/* A demand for a password is an answer; -LOADING is not. */
	return strncmp(reply, "+PONG", 5) == 0 ||
	       strncmp(reply, "-NOAUTH", 7) == 0 ||
	       strncmp(reply, "-NOPERM", 7) == 0;
}

static int redis_wipe(struct lab_server *s)
{
	if (lab_server_remove(s, "appendonlydir") < 0 ||
	    lab_server_remove(s, "appendonly.aof") < 0)
		return -1;
	return lab_server_remove(s, "dump.rdb");
}

static const struct lab_server_kind kind = {
	.name = "redis-server",
	.command = redis_command,
	.probe = redis_probe,
	.wipe = redis_wipe,
};

struct lab_server *lab_redis_start(const struct lab_redis_options *options)
{
	struct redis r = { .secret = "" };
	unsigned char random[16];

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		lab_fail("no random bytes");
		return NULL;
	}
	if (options)
		r.o = *options;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(r.secret + 2 * i, 3, "%02x", random[i]);
	return lab_server_start(&kind, &r, sizeof(r), r.o.wall);
}

int lab_redis_do(struct lab_server *s, char *reply, size_t size,
		 const char *format, ...)
{
	struct lab_address to = lab_server_address(s);
	char words[4096];
	char request[4200];
	char raw[REPLY_MAX];
	const char *second;
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	if (rc < 0 || (size_t)rc >= sizeof(words))
		return lab_fail("the command is too long");
	snprintf(request, sizeof(request), "AUTH lab %s\r\n%s\r\n",
		 redis_of(s)->secret, words);
	if (lab_ask(&to, request, raw, sizeof(raw), two_replies,
		    lab_after_ms(COMMAND_MS)) < 0)
		return -1;
	second = lab_resp_end(raw, raw + strlen(raw));
	return lab_resp_text(second ? second : raw, reply, size);
}

int64_t lab_redis_info(struct lab_server *s, const char *field)
{
	char info[REPLY_MAX];
	char key[64];
	const char *at;

	if (lab_redis_do(s, info, sizeof(info), "INFO everything") < 0)
		return -1;
	snprintf(key, sizeof(key), "\n%s:", field);
	at = strstr(info, key);
	return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static int synced(void *arg)
{
	char info[8192];

	if (lab_redis_do(arg, info, sizeof(info), "INFO replication") < 0)
		return 0;
	return strstr(info, "master_link_status:up") != NULL;
}

int lab_redis_wait_synced(struct lab_server *replica, int64_t timeout_ms)
{
	if (lab_wait_until(lab_after_ms(timeout_ms), synced, replica) > 0)
		return 0;
	lab_fail("the replica is not in step after %" PRId64 " ms", timeout_ms);
	lab_fail_tail(replica->log);
	return -1;
}

/* The number in the n-th line, from 0. */
static int64_t number_in_line(const char *text, int n)
{
	for (; n > 0 && text; n--) {
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return text ? strtoll(text, NULL, 10) : 0;
}

int64_t lab_redis_time_ms(struct lab_server *s)
{
	char reply[128];

	if (lab_redis_do(s, reply, sizeof(reply), "TIME") < 0)
		return -1;
	/* *2, $10, seconds, $6, microseconds */
	return number_in_line(reply, 2) * 1000 +
	       number_in_line(reply, 4) / 1000;
}
