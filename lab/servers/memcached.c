/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/memcached.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REPLY_MAX 65536
#define COMMAND_MS 5000

static int memcached_command(struct lab_server *s, struct lab_args *args)
{
	const struct lab_memcached_options *o = s->options;

	lab_arg(args, "memcached");
	lab_arg(args, "-m%d", o->memory_mb ? o->memory_mb : 64);
	lab_arg(args, "-t%d", o->threads ? o->threads : 2);
	if (o->no_evict)
		lab_arg(args, "-M");
	if (geteuid() == 0) {
		lab_arg(args, "-u");
		lab_arg(args, "root");
	}
	lab_arg(args,
		o->without_tls ? "-lnotls:" LAB_LOOPBACK : "-l" LAB_LOOPBACK);
	lab_arg(args, "-p%d", s->port);
	lab_arg(args, "-U0");
	for (const char *const *a = o->args; a && *a; a++)
		lab_arg(args, "%s", *a);
	return 0;
}

/* No request has a data block: an answer ends with a line, a listing with
 * END. */
static bool answered(const char *reply, size_t len)
{
	bool listing = strncmp(reply, "STAT ", 5) == 0 ||
		       strncmp(reply, "VALUE ", 6) == 0 ||
		       strncmp(reply, "ITEM ", 5) == 0;

	if (len < 2 || strcmp(reply + len - 2, "\r\n") != 0)
		return false;
	return !listing ||
	       (len >= 7 && strcmp(reply + len - 7, "\r\nEND\r\n") == 0);
}

static int memcached_probe(struct lab_server *s, int64_t deadline)
{
	struct lab_address to = lab_server_address(s);
	char reply[128];

	if (lab_ask(&to, "version\r\n", reply, sizeof(reply), answered,
		    deadline) < 0)
		return 0;
	return strncmp(reply, "VERSION ", 8) == 0 ||
	       strncmp(reply, "CLIENT_ERROR unauthenticated", 28) == 0;
}

static const struct lab_server_kind kind = {
	.name = "memcached",
	.command = memcached_command,
	.probe = memcached_probe,
};

struct lab_server *lab_memcached_start(
	const struct lab_memcached_options *options)
{
	return lab_server_start(&kind, options, sizeof(*options), false);
}

int lab_memcached_do(struct lab_server *s, char *reply, size_t size,
		     const char *line)
{
	struct lab_address to = lab_server_address(s);
	char raw[REPLY_MAX];
	char request[1024];
	int rc;

	snprintf(request, sizeof(request), "%s\r\n", line);
	rc = lab_ask(&to, request, raw, sizeof(raw), answered,
		     lab_after_ms(COMMAND_MS));
	if (!rc && (strncmp(raw, "ERROR", 5) == 0 ||
		    strncmp(raw, "CLIENT_ERROR", 12) == 0 ||
		    strncmp(raw, "SERVER_ERROR", 12) == 0))
		rc = lab_fail("the server says: %s", raw);
	if (!rc && size)
		snprintf(reply, size, "%s", raw);
	return rc;
}
