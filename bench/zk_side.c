/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/zk_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fail.h"
#include "lab/zookeeper.h"

#define MEMORY "/dev/shm"
#define DIR "/bare"
#define NODE DIR "/0123456789abcdef0123456789abcdef-x-"
#define TIMEOUT_MS 10000
#define WARM 1500 /* pairs until its compiler is done with what matters */
#define WARM_NS INT64_C(2000000000) /* at most */

static void no_event(zhandle_t *zh, int type, int state, const char *path,
		     void *context)
{
	(void)zh;
	(void)type;
	(void)state;
	(void)path;
	(void)context;
}

static void no_log(const char *message)
{
	(void)message;
}

int zk_side_checked(struct zk_side *s, int rc, const char *doing)
{
	if (rc == ZOK)
		return 0;
	return bench_fail(s->run, "bare %s: %s", doing, zerror(rc));
}

int zk_side_connect(struct zk_side *s, watcher_fn events, void *context)
{
	char host[32];
	int rc;

	snprintf(host, sizeof(host), "%s:%d", LAB_LOOPBACK, s->lab->port);
	s->bare = zookeeper_init2(host, events ? events : no_event, TIMEOUT_MS,
				  NULL, context, 0, no_log);
	if (!s->bare)
		return bench_fail(s->run, "zookeeper_init2 failed");
	/* With it the library is half as fast, and no floor. */
	zoo_set_servers_resolution_delay(s->bare, -1);
	rc = zoo_create(s->bare, DIR, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
	if (rc == ZNODEEXISTS)
		rc = ZOK;
	return zk_side_checked(s, rc, "create of " DIR);
}

void zk_side_disconnect(struct zk_side *s)
{
	if (s->bare)
		zookeeper_close(s->bare);
	s->bare = NULL;
}

static int warm_up(struct zk_side *s)
{
	int64_t until = bench_now() + WARM_NS;
	int rc = zk_side_connect(s, NULL, NULL);

	for (int i = 0; i < WARM && rc == 0 && !bench_over(until); i++)
		rc = zk_bare_recipe(s);
	zk_side_disconnect(s);
	return rc;
}

/* The lab takes its directory from TMPDIR. */
static struct lab_server *start_in(const char *dir, int sync)
{
	const struct lab_zk_options options = { .sync = sync };
	const char *old = getenv("TMPDIR");
	char *kept = old ? strdup(old) : NULL;
	struct lab_server *lab;

	if (dir)
		setenv("TMPDIR", dir, 1);
	lab = lab_zk_start(&options);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	return lab;
}

int zk_side_open(struct zk_side *s, struct bench_run *r, enum zk_data data,
		 const char *query)
{
	int rc;

	*s = (struct zk_side){ .run = r, .data = data };
	s->lab = data == ZK_TMPFS ? start_in(MEMORY, 0) : start_in(NULL, 1);
	if (!s->lab)
		return bench_skip(r, "%s", lab_errmsg());
	snprintf(s->uri, sizeof(s->uri), "zk://%s:%d/%s", LAB_LOOPBACK,
		 s->lab->port, query);
	snprintf(s->dir, sizeof(s->dir), "%s", s->lab->dir);
	rc = warm_up(s);
	if (rc != 0)
		zk_side_close(s);
	return rc;
}

void zk_side_close(struct zk_side *s)
{
	zk_side_disconnect(s);
	lab_server_free(s->lab);
	s->lab = NULL;
}

int zk_bare_pair(void *side)
{
	struct zk_side *s = side;
	int rc = zoo_create(s->bare, NODE, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			    ZOO_EPHEMERAL, NULL, 0);

	if (rc == ZOK)
		rc = zoo_delete(s->bare, NODE, -1);
	return zk_side_checked(s, rc, "create and delete");
}

int zk_bare_recipe(void *side)
{
	struct zk_side *s = side;
	struct String_vector names = { 0 };
	char path[128];
	int rc = zoo_create(s->bare, NODE, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			    ZOO_EPHEMERAL_SEQUENTIAL, path, sizeof(path));

	if (rc == ZOK)
		rc = zoo_get_children(s->bare, DIR, 0, &names);
	if (rc == ZOK && names.count != 1)
		rc = ZRUNTIMEINCONSISTENCY;
	deallocate_String_vector(&names);
	if (rc == ZOK)
		rc = zoo_delete(s->bare, path, -1);
	return zk_side_checked(s, rc, "create, list and delete");
}

int zk_packets(struct zk_side *s, struct zk_packets *out)
{
	int64_t received = lab_zk_number(s->lab, "srvr", "Received");
	int64_t sent = lab_zk_number(s->lab, "srvr", "Sent");

	if (received < 0 || sent < 0)
		return bench_fail(s->run, "%s", lab_errmsg());
	out->received = (double)received;
	out->sent = (double)sent;
	return 0;
}

void zk_side_text(const struct zk_side *s, struct bench_result *res)
{
	bench_text(res, "data", bench_file_system(s->dir));
	bench_text(res, "synced", s->data == ZK_DISK ? "yes" : "no");
}
