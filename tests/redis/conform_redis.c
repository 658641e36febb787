/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-redis [-s few|all|async|plain|acl] PROGRAM [ARG...] - run the
 * conformance suite against a private Redis server.
 *
 * PROGRAM is `conform` or `conform-plain`, beside this program if named without
 * a slash, and gets the URIs of the server in DLOCK_TEST_URIS.
 *
 *     few  by TCP
 *     all  by TCP, by unix socket, and with order=any
 *     async  by TCP, with release=async
 *     acl  by TCP, as a user who may do no more than docs/redis.md says
 *     plain  as such a user, with key=plain
 *
 * The exit code is the program's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "lab/servers/redis.h"
#include "redis/rule.h"
#include "support/program.h"

static int fail(const char *what)
{
	fprintf(stderr, "conform-redis: %s\n", what);
	return 2;
}

static int uris(struct lab_server *s, const char *set, char *out, size_t size)
{
	char to[64];

	snprintf(to, sizeof(to), "127.0.0.1:%d", s->port);
	if (strcmp(set, "few") == 0)
		snprintf(out, size, "redis://%s/?ask=1s", to);
	else if (strcmp(set, "all") == 0)
		snprintf(out, size,
			 "redis://%s/?ask=1s redis+unix://%s?ask=1s "
			 "redis://%s/1?ask=1s&order=any",
			 to, s->socket, to);
	else if (strcmp(set, "async") == 0)
		snprintf(out, size, "redis://%s/?ask=1s&release=async", to);
	else if (strcmp(set, "plain") == 0)
		snprintf(out, size, "redis://least:pw@%s/?ask=1s&key=plain",
			 to);
	else if (strcmp(set, "acl") == 0)
		snprintf(out, size, "redis://least:pw@%s/?ask=1s", to);
	else
		return -1;
	return 0;
}

/* The rule is for the prefix "dlock"; each case has another prefix. */
static int add_user(struct lab_server *s)
{
	const char *rule = least_rule("least", "pw"), *at;
	char text[2048] = "";

	for (; (at = strstr(rule, "dlock:")); rule = at + strlen("dlock"))
		strncat(strncat(text, rule, (size_t)(at - rule)), "*", 2);
	strncat(text, rule, sizeof(text) - strlen(text) - 1);
	return lab_redis_do(s, NULL, 0, "%s", text);
}

/* Killed processes leave keys, all with an expiry. */
static int left(struct lab_server *s)
{
	unsigned long keys, expiring;
	char reply[4096] = "";
	int rc = 0;

	if (lab_redis_do(s, reply, sizeof(reply), "INFO keyspace") < 0)
		return fail(lab_errmsg());
	for (char *at = strstr(reply, "keys="); at;
	     at = strstr(at + 1, "keys=")) {
		if (sscanf(at, "keys=%lu,expires=%lu", &keys, &expiring) != 2 ||
		    keys != expiring)
			rc = 1;
	}
	if (rc)
		fprintf(stderr, "conform-redis: left for ever: %s\n", reply);
	return rc;
}

int main(int argc, char *argv[])
{
	struct lab_redis_options o = { .unix_socket = true };
	const char *set = "all";
	struct lab_server *s;
	char text[1024];
	int opt, rc;

	while ((opt = getopt(argc, argv, "+s:")) != -1) {
		if (opt == 's')
			set = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return fail("which program?");
	s = lab_redis_start(&o);
	if (!s)
		return fail(lab_errmsg());
	if (uris(s, set, text, sizeof(text)) < 0)
		return fail("-s few, all, async, plain or acl");
	setenv("DLOCK_TEST_URIS", text, 1);
	if (strstr(text, "least:") && add_user(s) < 0)
		return fail(lab_errmsg());
	/* Any name may be a plain key. */
	if (strcmp(set, "plain") == 0 &&
	    lab_redis_do(s, NULL, 0, "ACL SETUSER least %%RW~*") < 0)
		return fail(lab_errmsg());
	rc = run_program(argv + optind);
	if (rc == 0)
		rc = left(s);
	lab_server_free(s);
	return rc;
}
