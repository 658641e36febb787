/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached: a server with little memory.  It forgets everything when it is
 * restarted or flushed, and the oldest items when it is full.
 */
#include "lab/servers/memcached.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos/chaos.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

/* By the server's own count: from then on locks are granted. */
#define GRANTS_AFTER_S 4
#define PATIENCE_MS 10000
#define LISTING 65536
#define BATCH 64   /* items in a batch */
#define BATCHES 16 /* ... and then the server has taken them all in */

struct writer { /* fills the server */
	pthread_t thread;
	bool runs;
	atomic_bool stop;
	int fd;
	int rc;
	char why[200]; /* it could not */
};

static int is_old_enough(void *arg)
{
	struct chaos *c = arg;
	char reply[8192];
	const char *age;

	if (lab_memcached_do(c->server, reply, sizeof(reply), "stats") < 0)
		return -1;
	age = strstr(reply, "STAT uptime ");
	return age && strtol(age + 12, NULL, 10) >= GRANTS_AFTER_S;
}

static int start_memcached(struct chaos *c, const char *query)
{
	static const struct lab_memcached_options options = { .memory_mb = 2 };

	c->store = calloc(1, sizeof(struct writer));
	c->server = lab_memcached_start(&options);
	if (!c->server || !c->store ||
	    chaos_start_proxies(c, "memcached", &c->server, 1, query) < 0)
		return -1;
	if (lab_wait_until(lab_after_ms(PATIENCE_MS), is_old_enough, c) > 0)
		return 0;
	return lab_fail("the server does not reach its age");
}

/* ---- Items that stay ----------------------------------------------------- */

static bool listed(const char *reply, size_t len)
{
	return (len >= 5 && strcmp(reply + len - 5, "END\r\n") == 0) ||
	       (strncmp(reply, "BUSY", 4) == 0 && strchr(reply, '\n'));
}

/* A mark and a wish outlive the items in the slots; the identities of the
 * server and of the pool outlive all clients.  No client waits for these. */
static bool may_stay(const char *key)
{
	int len = 0;

	if (strncmp(key, "dlock.0 ", 8) == 0 ||
	    strncmp(key, "dlock.p ", 8) == 0)
		return true;
	/* Prefix, run of the server, the lock's own key. */
	(void)sscanf(key, "%*[^. ].%*[0-9].%*[0-9a-z].%*1[mw]%n", &len);
	return len > 0 && key[len] == ' ';
}

/* Expired items are not listed.  A busy server is asked again. */
static int64_t count_left(struct chaos *c)
{
	static char reply[LISTING];
	struct lab_address to = lab_server_address(c->server);
	int64_t count = 0;

	if (lab_ask(&to, "lru_crawler metadump all\r\n", reply, sizeof(reply),
		    listed, lab_after_ms(PATIENCE_MS)) < 0)
		return -1;
	if (strncmp(reply, "BUSY", 4) == 0) {
		snprintf(c->left, sizeof(c->left), "(the server is busy)");
		return 1;
	}
	for (const char *at = reply; (at = strstr(at, "key=")); at++) {
		if (may_stay(at + 4))
			continue;
		snprintf(c->left, sizeof(c->left), "%.*s",
			 (int)strcspn(at, " \r\n"), at);
		count++;
	}
	return count;
}

/* ---- A full server ------------------------------------------------------- */

/* Items of all sizes of a lock's items, because the server divides the memory
 * into classes by size.  They expire soon. */
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

/* The answer tells that the server has executed all requests before. */
static int await(int fd, int64_t deadline)
{
	static const char question[] = "version\r\n";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer[64];
	ssize_t n;

	if (lab_send(fd, question, sizeof(question) - 1, deadline) < 0)
		return -1;
	if (poll(&p, 1, lab_poll_ms(deadline)) <= 0)
		return lab_fail("no answer");
	n = recv(fd, answer, sizeof(answer), 0);
	if (n > 0)
		return 0;
	return lab_fail("%s", n < 0 ? strerror(errno) :
				      "the server closed the connection");
}

static int write_batches(int fd, unsigned int *serial, int64_t deadline)
{
	char text[BATCH * 208];

	for (int i = 0; i < BATCHES; i++)
		if (lab_send(fd, text, batch(text, sizeof(text), serial),
			     deadline) < 0)
			return -1;
	return await(fd, deadline);
}

static void *write_on(void *arg)
{
	struct writer *w = arg;
	int64_t deadline = lab_after_ms(PATIENCE_MS);
	unsigned int serial = 0;

	w->rc = 0;
	while (!atomic_load(&w->stop) && !w->rc)
		w->rc = write_batches(w->fd, &serial, deadline);
	if (w->rc)
		snprintf(w->why, sizeof(w->why), "%s", lab_errmsg());
	close(w->fd);
	return NULL;
}

/* In a thread, because the other lanes go on. */
static int fill(struct chaos *c)
{
	struct lab_address to = lab_server_address(c->server);
	struct writer *w = c->store;

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

/* Some items have been evicted, others have not. */
static int filled(struct chaos *c)
{
	const struct writer *w = c->store;

	if (join(c->store) < 0)
		return lab_fail("the server could not be filled: %s%s", w->why,
				lab_server_alive(c->server) ? "" :
							      "; it has ended");
	chaos_wipe_end(c, false);
	return 0;
}

/* ---- The rest ------------------------------------------------------------ */

static void stop_memcached(struct chaos *c)
{
	join(c->store);
	free(c->store);
}

static int flush_all(struct chaos *c)
{
	chaos_wipe_begin(c);
	if (lab_memcached_do(c->server, NULL, 0, "flush_all") < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static const struct chaos_fault own_faults[] = {
	CHAOS_FAULT("flush", CHAOS_SERVER, 3, 0, 1, .begin = flush_all,
		    .wipes = true),
	CHAOS_FAULT("evict", CHAOS_SERVER, 2, 20, 60, .begin = fill,
		    .end = filled),
	CHAOS_NO_FAULT
};

const struct chaos_store chaos_memcached = {
	.name = "memcached",
	.leases = true,
	.ttl_step_ms = 1000,
	.match = "dlock.", /* the keys' prefix */
	.in_order = true,
	.start = start_memcached,
	.stop = stop_memcached,
	.left = count_left,
	.faults = { chaos_process_faults, chaos_net_faults, chaos_server_pauses,
		    chaos_server_empty, own_faults },
};
