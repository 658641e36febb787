/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached: a server of little memory, which forgets all when it is started
 * again or told to, and whatever is oldest when it is full.
 */
#include "lab/memcached.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "lab/clock.h"
#include "lab/fail.h"

#define ADULT_S                                                                \
	4 /* of the server's own count: from then on locks are granted */
#define PATIENCE_MS 10000
#define LISTING 65536
#define BATCH 64 /* items that are sent together */

struct writer { /* who fills the server */
	pthread_t thread;
	bool runs;
	atomic_bool stop;
	int fd;
	int rc;
};

static int grown_up(void *arg)
{
	struct chaos *c = arg;
	char reply[8192];
	const char *age;

	if (lab_memcached_do(c->server, reply, sizeof(reply), "stats") < 0)
		return -1;
	age = strstr(reply, "STAT uptime ");
	return age && strtol(age + 12, NULL, 10) >= ADULT_S;
}

static int start(struct chaos *c, const char *query)
{
	static const struct lab_memcached_options options = { .memory_mb = 2 };
	struct lab_proxy_options way = { 0 };
	int port;

	c->store = calloc(1, sizeof(struct writer));
	c->server = lab_memcached_start(&options);
	if (!c->server || !c->store)
		return -1;
	way.to = lab_server_address(c->server);
	c->proxy = lab_proxy_new(&way);
	if (!c->proxy)
		return -1;
	for (int i = 0; i < 2; i++) {
		port = i ? c->server->port : lab_proxy_port(c->proxy);
		snprintf(c->uri[i], sizeof(c->uri[i]),
			 "memcached://" LAB_LOOPBACK ":%d/%s", port, query);
	}
	if (lab_wait_until(lab_after_ms(PATIENCE_MS), grown_up, c) > 0)
		return 0;
	return lab_fail("the server does not grow up");
}

/* ---- What is left -------------------------------------------------------- */

static bool listed(const char *reply, size_t len)
{
	return (len >= 5 && strcmp(reply + len - 5, "END\r\n") == 0) ||
	       (strncmp(reply, "BUSY", 4) == 0 && strchr(reply, '\n'));
}

/* What has run out is not listed.  A server that is busy is asked again. */
static int64_t left(struct chaos *c)
{
	static char reply[LISTING];
	struct lab_address to = lab_server_address(c->server);
	int64_t count = 0;

	if (lab_ask(&to, "lru_crawler metadump all\r\n", reply, sizeof(reply),
		    listed, lab_after_ms(PATIENCE_MS)) < 0)
		return -1;
	if (strncmp(reply, "BUSY", 4) == 0)
		return 1;
	for (const char *at = reply; (at = strstr(at, "key=")); at++)
		count++;
	return count;
}

/* ---- A full server ------------------------------------------------------- */

/* Items of each size that a lock's has: the server keeps memory apart for each
 * class of sizes.  They run out soon, not to be in the way later. */
static size_t batch(char *out, size_t size, unsigned int *serial)
{
	static const int length[] = { 20, 45, 70, 110, 150 };
	size_t at = 0;

	for (int i = 0; i < BATCH; i++) {
		unsigned int n = (*serial)++;
		int len = length[n % 5];

		at += (size_t)snprintf(out + at, size - at,
				       "set filler.%08u 0 1 %d noreply\r\n"
				       "%0*u\r\n",
				       n, len, len, n);
	}
	return at;
}

/* Whatever was sent has been carried out when this is answered. */
static int await(int fd, int64_t deadline)
{
	static const char question[] = "version\r\n";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer[64];

	if (lab_send(fd, question, sizeof(question) - 1, deadline) < 0)
		return -1;
	return poll(&p, 1, lab_poll_ms(deadline)) > 0 &&
			       recv(fd, answer, sizeof(answer), 0) > 0 ?
		       0 :
		       -1;
}

static void *write_on(void *arg)
{
	struct writer *w = arg;
	int64_t deadline = lab_after_ms(PATIENCE_MS);
	unsigned int serial = 0;
	char text[BATCH * 208];

	w->rc = 0;
	while (!atomic_load(&w->stop) && !w->rc)
		w->rc = lab_send(w->fd, text,
				 batch(text, sizeof(text), &serial), deadline);
	if (!w->rc)
		w->rc = await(w->fd, deadline);
	close(w->fd);
	return NULL;
}

/* A thread does it, for the other lanes go on. */
static int fill(struct chaos *c, struct chaos_draw *d)
{
	struct lab_address to = lab_server_address(c->server);
	struct writer *w = c->store;

	(void)d;
	chaos_wipe_begin(c);
	w->fd = lab_connect(&to, lab_after_ms(PATIENCE_MS));
	if (w->fd < 0)
		return -1;
	atomic_store(&w->stop, false);
	if (pthread_create(&w->thread, NULL, write_on, w)) {
		close(w->fd);
		return lab_fail("no thread");
	}
	w->runs = true;
	return 0;
}

static int join(struct writer *w)
{
	if (!w || !w->runs)
		return 0;
	w->runs = false;
	atomic_store(&w->stop, true);
	pthread_join(w->thread, NULL);
	return w->rc;
}

/* Some have been evicted, and some have not. */
static int filled(struct chaos *c)
{
	if (join(c->store) < 0)
		return lab_fail("the server could not be filled");
	chaos_wipe_end(c, false);
	return 0;
}

/* ---- The rest ------------------------------------------------------------ */

static void stop(struct chaos *c)
{
	join(c->store);
	free(c->store);
	lab_proxy_free(c->proxy);
	lab_server_free(c->server);
}

static int flush_all(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	chaos_wipe_begin(c);
	if (lab_memcached_do(c->server, NULL, 0, "flush_all") < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static const struct chaos_fault flush = {
	.name = "flush",
	.lane = CHAOS_SERVER,
	.weight = 3,
	.max_pc = 1,
	.begin = flush_all,
	.wipes = true,
};

static const struct chaos_fault full = {
	.name = "evict",
	.lane = CHAOS_SERVER,
	.weight = 2,
	.min_pc = 20,
	.max_pc = 60,
	.begin = fill,
	.end = filled,
};

static const struct chaos_fault *const faults[] = { CHAOS_PREY_FAULTS,
						    CHAOS_NET_FAULTS,
						    &chaos_server_pause_short,
						    &chaos_server_pause_long,
						    &chaos_server_empty,
						    &flush,
						    &full,
						    NULL };

const struct chaos_store chaos_memcached = {
	.name = "memcached",
	.leases = true,
	.ttl_step_ms = 1000,
	.match = "dlock.", /* the keys' prefix */
	.start = start,
	.stop = stop,
	.left = left,
	.faults = faults,
};
