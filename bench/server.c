/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/server.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fail.h"
#include "lab/redis.h"

#define KEY "bare"
#define OWNER "0123456789abcdef0123456789abcdef"
#define UNLOCK                                                                 \
	"if redis.call('GET',KEYS[1])==ARGV[1] then "                          \
	"return redis.call('DEL',KEYS[1]) end return 0"

static redisReply *checked(struct server *s, void *reply)
{
	redisReply *r = reply;

	if (r && r->type != REDIS_REPLY_ERROR)
		return r;
	bench_fail(s->run, "bare hiredis: %s", r ? r->str : s->bare->errstr);
	if (r)
		freeReplyObject(r);
	return NULL;
}

int server_connect(struct server *s)
{
	redisReply *reply;

	s->bare = redisConnect(LAB_LOOPBACK, s->lab->port);
	if (!s->bare || s->bare->err)
		return bench_fail(s->run, "bare hiredis: %s",
				  s->bare ? s->bare->errstr : "out of memory");
	reply = checked(s, redisCommand(s->bare, "SCRIPT LOAD %s", UNLOCK));
	if (!reply)
		return -1;
	snprintf(s->unlock, sizeof(s->unlock), "%s", reply->str);
	freeReplyObject(reply);
	return 0;
}

void server_disconnect(struct server *s)
{
	if (s->bare)
		redisFree(s->bare);
	s->bare = NULL;
}

int server_open(struct server *s, struct bench_run *r, const char *query)
{
	int rc;

	*s = (struct server){ .run = r };
	s->lab = lab_redis_start(NULL);
	if (!s->lab)
		return bench_skip(r, "%s", lab_errmsg());
	snprintf(s->uri, sizeof(s->uri), "redis://%s:%d/%s", LAB_LOOPBACK,
		 s->lab->port, query);
	rc = server_connect(s);
	if (rc != 0)
		server_close(s);
	return rc;
}

void server_close(struct server *s)
{
	server_disconnect(s);
	lab_server_free(s->lab);
	s->lab = NULL;
}

int server_ping(void *server)
{
	struct server *s = server;
	redisReply *reply = checked(s, redisCommand(s->bare, "PING"));

	if (!reply)
		return -1;
	freeReplyObject(reply);
	return 0;
}

int server_bare_try(struct server *s)
{
	redisReply *reply = checked(
		s, redisCommand(s->bare, "SET " KEY " " OWNER " NX PX 30000"));
	int taken;

	if (!reply)
		return -1;
	taken = reply->type == REDIS_REPLY_STATUS;
	freeReplyObject(reply);
	return taken;
}

int server_bare_give(struct server *s)
{
	redisReply *reply =
		checked(s, redisCommand(s->bare, "EVALSHA %s 1 " KEY " " OWNER,
					s->unlock));
	int gone;

	if (!reply)
		return -1;
	gone = reply->integer == 1;
	freeReplyObject(reply);
	return gone ? 0 : bench_fail(s->run, "the bare lock was gone");
}

int server_bare_pair(void *server)
{
	int rc = server_bare_try(server);

	if (rc == 0)
		return bench_fail(((struct server *)server)->run,
				  "the bare lock was taken");
	return rc < 0 ? rc : server_bare_give(server);
}

double server_ping_p50(struct server *s, size_t n, int64_t pause_ns)
{
	struct bench_samples all;
	double median;

	if (bench_samples_init(&all, n) != 0)
		return BENCH_NONE;
	for (size_t i = 0; i < n; i++) {
		int64_t begin;

		if (pause_ns > 0)
			bench_sleep(pause_ns);
		begin = bench_now();
		if (server_ping(s) != 0)
			break;
		bench_sample(&all, (double)(bench_now() - begin));
	}
	median = bench_percentile(&all, 50);
	bench_samples_free(&all);
	return median;
}

/* The number behind `name` in the line of a command. */
static double stat_of(const char *text, const char *command, const char *name)
{
	const char *line = strstr(text, command);
	const char *end = line ? strpbrk(line, "\r\n") : NULL;
	const char *at = line ? strstr(line, name) : NULL;

	if (!at || (end && at > end))
		return 0;
	return strtod(at + strlen(name), NULL);
}

int server_load(struct server *s, struct server_load *out)
{
	static const char *const scripts[] = { "cmdstat_evalsha:",
					       "cmdstat_eval:" };
	char text[16384];
	double us = 0;

	if (lab_redis_do(s->lab, text, sizeof(text), "INFO commandstats") != 0)
		return bench_fail(s->run, "%s", lab_errmsg());
	*out = (struct server_load){ 0 };
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		out->scripts += stat_of(text, scripts[i], "calls=");
		us += stat_of(text, scripts[i], "usec=");
	}
	out->script_us = out->scripts > 0 ? us / out->scripts : BENCH_NONE;
	out->published = stat_of(text, "cmdstat_publish:", "calls=");
	return 0;
}
