/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private ZooKeeper server and the floors, all with the client library:
 * create and delete; the recipe, which also lists; the delete of a node that
 * another client watches; and the whole recipe, in which each client waits for
 * the client ahead.
 */
#include "bench/store.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "lab/base/fail.h"
#include "lab/servers/zookeeper.h"

#define DIR "/bare"
#define NODE DIR "/0123456789abcdef0123456789abcdef-x-"
#define WATCHED DIR "/handoff"
#define TIMEOUT_MS 10000
#define WARM 1500 /* pairs until the JVM has compiled the hot code */
#define WARM_NS (2000 * BENCH_MS) /* at most */

/* ---- The server ---------------------------------------------------------- */

static void warm_up(const struct bench_store *s)
{
	struct bench_lock *l = bench_lock_open(&floor_zk_recipe, s);
	int64_t until = bench_now() + WARM_NS;

	for (int i = 0; i < WARM && bench_now() < until; i++)
		l->ops->pair(l);
	bench_lock_close(l);
}

/* The lab puts the directory into TMPDIR. */
static void store_open(struct bench_store *s)
{
	const struct lab_zk_options how = { .sync = s->variant == ZK_DISK };
	const char *disk = getenv("TMPDIR");
	char *kept = store_text("%s", disk && *disk ? disk : "/tmp");

	if (s->variant == ZK_TMPFS)
		setenv("TMPDIR", "/dev/shm", 1);
	store_serve(s, lab_zk_start(&how), "");
	setenv("TMPDIR", kept, 1);
	free(kept);
	warm_up(s);
}

/* Packets, in and out. */
static struct store_load store_load(const struct bench_store *s)
{
	int64_t received = lab_zk_number(s->server, "srvr", "Received");
	int64_t sent = lab_zk_number(s->server, "srvr", "Sent");

	if (received < 0 || sent < 0)
		bench_fail("%s", lab_errmsg());
	return (struct store_load){ (double)received, (double)sent, 0 };
}

/* Idle waiters' packets are the pings of nine sessions, and the holder's writes
 * that prove the session alive. */
const struct store_desc store_zk = {
	.name = "zk",
	.settle_ns = 5 * BENCH_MS,
	.open = store_open,
	.load = store_load,
	.requests = "packets",
	.replies = "sent",
	.idle = "idle_packets_per_s",
};

/* ---- A session ----------------------------------------------------------- */

static void no_log(const char *message)
{
	(void)message;
}

static void check(int rc, const char *doing)
{
	if (rc != ZOK)
		bench_fail("bare %s: %s", doing, zerror(rc));
}

static int create(zhandle_t *zh, const char *path, int flags)
{
	return zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, flags, NULL,
			  0);
}

static void open_bare(struct bench_lock *l)
{
	char host[32];
	int rc;

	snprintf(host, sizeof(host), "%s:%d", LAB_LOOPBACK,
		 l->store->server->port);
	l->conn = zookeeper_init2(host, NULL, TIMEOUT_MS, NULL, NULL, 0,
				  no_log);
	if (!l->conn)
		bench_fail("zookeeper_init2 failed");
	/* With the delay the library is half as fast, and no floor. */
	zoo_set_servers_resolution_delay(l->conn, -1);
	rc = create(l->conn, DIR, 0);
	check(rc == ZNODEEXISTS ? ZOK : rc, "create of " DIR);
}

static void close_bare(struct bench_lock *l)
{
	zookeeper_close(l->conn);
}

static void report_data(const struct bench_store *s, struct bench_result *res)
{
	bench_text(res, "data", bench_file_system(s->server->dir));
	bench_text(res, "synced", s->variant == ZK_DISK ? "yes" : "no");
}

/* ---- Pairs --------------------------------------------------------------- */

static void node_pair(void *lock)
{
	zhandle_t *zh = ((struct bench_lock *)lock)->conn;

	check(create(zh, NODE, ZOO_EPHEMERAL), "create");
	check(zoo_delete(zh, NODE, -1), "delete");
}

static void recipe_pair(void *lock)
{
	zhandle_t *zh = ((struct bench_lock *)lock)->conn;
	struct String_vector names = { 0 };
	char path[128];

	check(zoo_create(zh, NODE, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			 ZOO_EPHEMERAL_SEQUENTIAL, path, sizeof(path)),
	      "create");
	check(zoo_get_children(zh, DIR, 0, &names), "list");
	if (names.count != 1)
		bench_fail("bare list: %d nodes", names.count);
	deallocate_String_vector(&names);
	check(zoo_delete(zh, path, -1), "delete");
}

const struct lock_ops floor_zk_node = {
	.open = open_bare,
	.close = close_bare,
	.pair = node_pair,
	.finish = report_data,
};

const struct lock_ops floor_zk_recipe = {
	.open = open_bare,
	.close = close_bare,
	.pair = recipe_pair,
};

/* ---- A watched node ------------------------------------------------------ */

static int holds;  /* this process has made the node */
static sem_t gone; /* another process has deleted the node */

static void on_event(zhandle_t *zh, int type, int state, const char *path,
		     void *context)
{
	(void)zh, (void)state, (void)path, (void)context;
	if (type == ZOO_DELETED_EVENT)
		sem_post(&gone);
}

static void open_watch(struct bench_lock *l)
{
	sem_init(&gone, 0, 0);
	open_bare(l);
}

/* Make the node, or wait until the node goes.  A watch that comes too late, on
 * a busy machine, is a single sample among many. */
static void watch_acquire(struct bench_lock *l)
{
	int rc = create(l->conn, WATCHED, ZOO_EPHEMERAL);

	holds = rc == ZOK;
	if (rc == ZNODEEXISTS) {
		rc = zoo_wexists(l->conn, WATCHED, on_event, NULL, NULL);
		if (rc == ZOK)
			sem_wait(&gone);
	}
	check(rc == ZNONODE ? ZOK : rc, "create or watch");
}

static void watch_release(struct bench_lock *l)
{
	if (holds)
		check(zoo_delete(l->conn, WATCHED, -1), "delete");
	holds = 0;
}

const struct lock_ops floor_zk_watch = {
	.open = open_watch,
	.close = close_bare,
	.acquire = watch_acquire,
	.release = watch_release,
	.finish = report_data,
};

/* ---- The whole recipe ---------------------------------------------------- */

#define QUEUE "/bare-queue"

static char own_path[128]; /* of this process's node in the queue */

static void open_queue(struct bench_lock *l)
{
	int rc;

	sem_init(&gone, 0, 0);
	open_bare(l);
	rc = create(l->conn, QUEUE, 0);
	check(rc == ZNODEEXISTS ? ZOK : rc, "create of " QUEUE);
}

/* Return the number at the end of the name. */
static const char *sequence(const char *name)
{
	size_t n = strlen(name);

	return n > 10 ? name + n - 10 : name;
}

/* Return the last node ahead of ours, or NULL. */
static const char *ahead_of(const struct String_vector *names, const char *own)
{
	const char *best = NULL;

	for (int i = 0; i < names->count; i++) {
		const char *name = names->data[i];

		if (strcmp(sequence(name), sequence(own)) < 0 &&
		    (!best || strcmp(sequence(name), sequence(best)) > 0))
			best = name;
	}
	return best;
}

static void queue_acquire(struct bench_lock *l)
{
	check(zoo_create(l->conn, QUEUE "/x-", "", 0, &ZOO_OPEN_ACL_UNSAFE,
			 ZOO_EPHEMERAL_SEQUENTIAL, own_path, sizeof(own_path)),
	      "create");
	for (;;) {
		struct String_vector names = { 0 };
		const char *ahead;
		char path[128];
		int rc;

		check(zoo_get_children(l->conn, QUEUE, 0, &names), "list");
		ahead = ahead_of(&names, own_path);
		if (ahead)
			snprintf(path, sizeof(path), QUEUE "/%s", ahead);
		deallocate_String_vector(&names);
		if (!ahead)
			return;
		rc = zoo_wexists(l->conn, path, on_event, NULL, NULL);
		check(rc == ZNONODE ? ZOK : rc, "watch");
		if (rc == ZOK)
			sem_wait(&gone);
	}
}

static void queue_release(struct bench_lock *l)
{
	check(zoo_delete(l->conn, own_path, -1), "delete");
}

const struct lock_ops floor_zk_queue = {
	.open = open_queue,
	.close = close_bare,
	.acquire = queue_acquire,
	.release = queue_release,
	.finish = report_data,
};
